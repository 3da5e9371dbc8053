"""`Recorder`: the diagnostics of every round of a training, on a part of the queries."""

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

# Recording may take this share of the training time: a little less than the tenth that is promised, since what a
# round costs is only known when it is spent.
BUDGET = 0.08


class Recorder:
    """What figures 2, 3, 4 and 6 of the 2011 paper show, round by round, as a callback of either engine.

    It records on a fixed, seeded sample of the queries, and, unless `every` is given, only as many rounds as keep it
    under a tenth of the training time; its `repr` says how much that was. The scores are those of the model's trees: an
    ``init_score`` or ``base_margin`` of the training data is not in them.

    Parameters
    ----------
    X : array, CSR matrix or DataFrame of shape (n_documents, n_features)
        Features to follow the model on, usually those of the training data.
    q : Queries
        Their queries and labels.
    objective : Objective
        Whose λ shares by grade are recorded, and whose blend weight if it is a `Blend`: usually the one trained with.
    compare : iterable of (Objective, Objective)
        Pairs whose `lambda_agreement` is recorded.
    k : int
        The last rank of the top.
    grades : iterable of int
        The grades of highly relevant documents; none for no λ shares.
    every : int, optional
        Record every so manyth round, whatever it costs.
    sample : int, optional
        Record at most so many queries; None for all.
    seed : int
        Draws the sample.

    Attributes
    ----------
    queries : Queries
        The sampled queries.
    features
        Their rows of X.
    rounds_seen, rounds_recorded : int
        Rounds trained and rounds recorded.
    seconds_training, seconds_recording : float
        Where the time went. LightGBM's first round is not in the first: no callback sees when it starts.

    Raises
    ------
    TypeError, ValueError
        Where an argument is off or the labels lack a source, before anything is trained.

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
                "every", every, "give a whole number ≥ 1, or None for what a tenth of the time allows"
            )
        self.every = every
        chosen = _sampled(q, sample, seed)
        self.queries_given = q.n_queries
        self.queries = q.take(chosen)
        rows = q.rows_of(chosen)
        self.features = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        grades = tuple(grades)
        self.grades = tuple(high_grades(grades, self.queries)) if grades else ()
        # What LightGBM reads off a callback.
        self.order = 25  # after other recorders, before early stopping ends the training
        self.before_iteration = False
        self.start(0)
        flat = np.zeros(self.queries.n_documents)
        self._measure(flat, flat, 0)  # compiles the kernels, and refuses what cannot be recorded

    def __call__(self, env: Any) -> None:
        """A round of LightGBM."""
        trees, predict = lightgbm_trees(env, self.features)
        if env.iteration == env.begin_iteration:
            self.start(max(trees - 1, 0), clock=False)
        self.round_done(env.iteration, trees, predict)

    def xgboost(self) -> Any:
        """Hand this recorder on as a callback for ``callbacks=[…]`` of `xgboost.train`."""
        return xgboost_callback(self)

    def start(self, trees: int, clock: bool = True) -> None:
        """Forget what was recorded, before a training that continues from `trees` trees; start the clock."""
        self._rows: list[dict[str, float]] = []
        self._scores = TreeScores(self.queries.n_documents)
        self._trees = trees
        self._left = perf_counter() if clock else None
        self.rounds_seen = 0
        self.seconds_training = self.seconds_recording = self._last_cost = 0.0

    def round_done(self, iteration: int, trees: int, predict: Predict) -> None:
        """Take note of a round after which the model has `trees` trees."""
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
        """λ as the round saw them, rankings as it left them."""
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
        """How many rounds were recorded."""
        return len(self._rows)

    def frame(self) -> pd.DataFrame:
        """What was recorded, one row a round.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``round``, from 0. λ are those that the round's tree was fitted to: one column
            ``agreement of … with …`` for each pair of `compare`, ``share_v`` for partners of grade v, ``weight`` of a
            blend. Rankings are those after it: ``top_v`` for grade v in the top, ``changed_top`` and ``changed_full``
            against the ranking before the round, and NDCG at k. All are shares in [0, 1].

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
    """The name of a pair's column."""
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
    """The queries to record, ascending."""
    if sample is None:
        return np.arange(q.n_queries)
    sample = _checks.whole("sample", sample, "give a number of queries ≥ 1, or None for all")
    return np.sort(np.random.default_rng(seed).permutation(q.n_queries)[:sample])
