"""`Recorder`: diagnostics of training, round by round, on a sample of the queries."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.diagnostics._engines import lightgbm_trees, xgboost_callback
from lambdaboost.diagnostics._tree_scores import Predict, TreeScores
from lambdaboost.diagnostics.agreement import lambda_agreement
from lambdaboost.diagnostics.share_by_grade import high_grades, lambda_share_by_grade
from lambdaboost.evaluation import NDCG, _checks
from lambdaboost.evaluation.comparison.rank_changes import rank_changes
from lambdaboost.evaluation.comparison.top_grades import top_grades
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import check_objective
from lambdaboost.objectives.blend import blend_weight

if TYPE_CHECKING:
    import pandas as pd

# Recording may take this share of the training time: slightly less than the documented tenth, since the cost of a
# round is only known afterwards.
BUDGET = 0.08


class Recorder:
    """Callback of either engine that records figures 2, 3, 4 and 6 of the 2011 paper, round by round.

    It records on a fixed, seeded sample of the queries. Unless `every` is given, it skips rounds to stay under a tenth
    of the training time; its `repr` shows the share spent. Scores are those of the model's trees, without an
    ``init_score`` or ``base_margin`` of the training data.

    Parameters
    ----------
    X : array, CSR matrix or DataFrame of shape (n_documents, n_features)
        Features to score, usually those of the training data.
    q : Queries
        Their queries and labels.
    objective : Objective
        The objective whose λ shares by grade are recorded, and its blend weight if it is a `Blend`; usually the one
        trained with.
    compare : iterable of (Objective, Objective)
        Pairs whose `lambda_agreement` is recorded.
    k : int
        The last rank of the top.
    grades : iterable of int
        The grades of highly relevant documents; empty for no λ shares.
    every : int, optional
        Record every `every`-th round, whatever the cost.
    sample : int, optional
        Maximum number of queries to record; None for all.
    seed : int
        Seed of the sample.

    Attributes
    ----------
    queries : Queries
        The sampled queries.
    features
        Their rows of X.
    rounds_seen, rounds_recorded : int
        Rounds trained and rounds recorded.
    seconds_training, seconds_recording : float
        Seconds spent. `seconds_training` excludes LightGBM's first round, whose start no callback sees.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid or a label source is missing; before any training.

    Examples
    --------
    ::

        recorder = Recorder(X, q, LambdaRank(), compare=[(LambdaRank(), ClickTier())])
        lgb.train({"objective": LambdaRank()}, data, 500, callbacks=[recorder])
        xgb.train({}, data, 500, obj=LambdaRank(), callbacks=[recorder.xgboost()])
        recorder.frame()

    """

    def __init__(
        self,
        X: Any,
        q: Queries,
        objective: Objective,
        compare: Iterable[tuple[Objective, Objective]] = (),
        k: int = 3,
        grades: Iterable[int] = (3, 4),
        every: int | None = None,
        sample: int | None = 200,
        seed: int = 0,
    ) -> None:
        if not isinstance(q, Queries):
            raise TypeError(f"q is {type(q).__name__}, expected lambdaboost.Queries(relevance, sizes=…)")
        if not hasattr(X, "shape") or X.shape[0] != q.n_documents:
            raise ValueError(
                f"X has shape {getattr(X, 'shape', None)}, q has {q.n_documents} documents: give one row each"
            )
        check_objective("objective", objective)
        self.objective = objective
        self.compare = _checked_pairs(compare)
        self.k = _checks.whole("k", k, "give the last rank of the top, a whole number ≥ 1")
        if every is not None:
            every = _checks.whole(
                "every", every, "give a whole number ≥ 1, or None to stay under a tenth of the time"
            )
        self.every = every
        chosen = _sampled(q, sample, seed)
        self.queries_given = q.n_queries
        self.queries = q.take(chosen)
        rows = q.rows_of(chosen)
        self.features = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        grades = tuple(grades)
        self.grades = tuple(high_grades(grades, self.queries)) if grades else ()
        # Attributes that LightGBM reads from a callback.
        self.order = 25  # after other recorders, before early stopping ends the training
        self.before_iteration = False
        self.start(0)
        flat = np.zeros(self.queries.n_documents)
        self._measure(flat, flat, 0)  # compiles the kernels, and raises for invalid input

    def __call__(self, env: Any) -> None:
        """Record a round of LightGBM."""
        trees, predict = lightgbm_trees(env, self.features)
        if env.iteration == env.begin_iteration:
            self.start(max(trees - 1, 0), clock=False)
        self.round_done(env.iteration, trees, predict)

    def xgboost(self) -> Any:
        """A callback for ``callbacks=[…]`` of `xgboost.train` that writes to this recorder."""
        return xgboost_callback(self)

    def start(self, trees: int, clock: bool = True) -> None:
        """Reset before a training that continues from `trees` trees, and start the clock."""
        self._rows: list[dict[str, float]] = []
        self._scores = TreeScores(self.queries.n_documents)
        self._trees = trees
        self._left = perf_counter() if clock else None
        self.rounds_seen = 0
        self.seconds_training = self.seconds_recording = self._last_cost = 0.0

    def round_done(self, iteration: int, trees: int, predict: Predict) -> None:
        """Record a round after which the model has `trees` trees."""
        came = perf_counter()
        if self._left is not None:
            self.seconds_training += came - self._left
        if self._is_due():
            before = self._scores.at(self._trees, predict)
            after = self._scores.at(trees, predict)
            self._rows.append({"round": iteration} | self._measure(before, after, iteration))
            self._last_cost = perf_counter() - came
        self.rounds_seen += 1
        self._trees = trees
        left = self._left = perf_counter()
        self.seconds_recording += left - came

    def _is_due(self) -> bool:
        if self.every is not None:
            return self.rounds_seen % self.every == 0
        return not self._rows or self.seconds_recording + self._last_cost <= BUDGET * self.seconds_training

    def _measure(
        self, before: NDArray[np.float64], after: NDArray[np.float64], iteration: int
    ) -> dict[str, float]:
        """Measure λ before the round's tree, rankings after it."""
        q = self.queries
        row: dict[str, float] = {}
        for first, second in self.compare:
            row[agreement_column(first, second)] = lambda_agreement(first, second, before, q, iteration)
        if self.grades:
            shares = lambda_share_by_grade(self.objective, before, q, self.grades, iteration)
            row |= {f"share_{v}": share for v, share in enumerate(shares)}
        row |= {f"top_{v}": share for v, share in enumerate(top_grades(after, q, self.k))}
        changes = rank_changes(before, after, q, self.k)
        row |= {
            "changed_top": changes.top,
            "changed_full": changes.full,
            repr(NDCG(self.k)): NDCG(self.k)(after, q),
        }
        weight = blend_weight(self.objective, iteration)
        return row if weight is None else row | {"weight": weight}

    @property
    def rounds_recorded(self) -> int:
        """Number of recorded rounds."""
        return len(self._rows)

    def frame(self) -> pd.DataFrame:
        """The records, one row per round.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``round``, from 0. Columns of the λ that the round's tree was fitted to: ``agreement of … with
            …`` for each pair of `compare`, ``share_v`` for partners of grade v, ``weight`` of a blend. Columns of the
            ranking after the round: ``top_v`` for grade v in the top, ``changed_top`` and ``changed_full`` against the
            ranking before it, and NDCG at k. All are in [0, 1].

        """
        import pandas as pd

        return (
            pd.DataFrame(self._rows).set_index("round")
            if self._rows
            else pd.DataFrame(index=pd.Index([], name="round"))
        )

    def __repr__(self) -> str:
        queries = f"{self.queries.n_queries} of {self.queries_given} queries"
        text = f"{self.rounds_recorded} of {self.rounds_seen} rounds, {queries}"
        if self.seconds_training > 0:
            text += f", {self.seconds_recording / self.seconds_training:.1%} of the training time"
        return f"Recorder({text})"


def agreement_column(first: Objective, second: Objective) -> str:
    """The column name of a pair of objectives."""
    return f"agreement of {second!r} with {first!r}"


def _checked_pairs(compare: Iterable[tuple[Objective, Objective]]) -> tuple[tuple[Objective, Objective], ...]:
    if isinstance(compare, Objective):
        raise TypeError(
            f"compare is {compare!r}: give pairs of objectives, such as [(LambdaRank(), ClickTier())]"
        )
    pairs = tuple(compare)
    for at, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"compare[{at}] is {pair!r}: give pairs of objectives, such as (LambdaRank(), ClickTier())"
            )
        for which, objective in enumerate(pair):
            check_objective(f"compare[{at}][{which}]", objective)
    return pairs


def _sampled(q: Queries, sample: int | None, seed: int) -> NDArray[np.int64]:
    """The sampled queries, ascending."""
    if sample is None:
        return np.arange(q.n_queries)
    sample = _checks.whole("sample", sample, "give a number of queries ≥ 1, or None for all")
    return np.sort(np.random.default_rng(seed).permutation(q.n_queries)[:sample])
