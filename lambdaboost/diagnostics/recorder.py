"""`Recorder` and `replay`: diagnostics of a training, round by round, on a sample of the queries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost._installed import package
from lambdaboost.datasets import Queries
from lambdaboost.diagnostics.lambdas import high_grades, lambda_agreement, lambda_share_by_grade
from lambdaboost.diagnostics.top_ranks import rank_changes, top_grades
from lambdaboost.engines.engine import engine_of
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import check_objective

if TYPE_CHECKING:
    import pandas as pd

# The sum of trees first:last for each document.
Predict = Callable[[int, int], NDArray[Any]]

NOT_A_SUM = (
    "the model is not a sum of fixed trees: DART rescales earlier trees every round, and gblinear has none; "
    "train with another booster"
)
ONE_BOOSTER = (
    "the recorder follows one booster, but this is a cross-validation: record a training on one fold"
)


class Recorder:
    """Callback of either engine that records figures 2, 3 and 4 of the 2011 paper, round by round.

    It records on a fixed, seeded sample of the queries. Scores are those of the model's trees, without an
    ``init_score`` or ``base_margin`` of the training data.

    Parameters
    ----------
    X : array, CSR matrix or DataFrame of shape (n_documents, n_features)
        Features to score, usually those of the training data.
    q : Queries
        Their queries and labels.
    objective : Objective
        The objective whose λ shares by grade are recorded; usually the one trained with.
    compare : iterable of (Objective, Objective)
        Pairs whose `lambda_agreement` is recorded.
    k : int
        The last rank of the top.
    grades : iterable of int
        The grades of highly relevant documents; empty for no λ shares.
    every : int
        Record every `every`-th round: more where recording takes long.
    sample : int, optional
        Maximum number of queries to record; None for all.
    seed : int
        Seed of the sample.

    Attributes
    ----------
    queries : Queries
        The sampled queries; `features` are their rows of X.
    rounds_seen, rounds_recorded : int
        Rounds trained and rounds recorded.

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
        every: int = 1,
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
        self.k = check_whole("k", k, remedy="give the last rank of the top, a whole number ≥ 1")
        self.every = check_whole("every", every)
        if sample is not None:
            sample = check_whole("sample", sample, remedy="give a number of queries ≥ 1, or None for all")
        chosen = np.sort(np.random.default_rng(seed).permutation(q.n_queries)[:sample])
        self.queries_given = q.n_queries
        self.queries = q.take(chosen)
        rows = q.rows_of(chosen)
        self.features = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        grades = tuple(grades)
        self.grades = tuple(high_grades(grades, self.queries)) if grades else ()
        # Attributes that LightGBM reads from a callback.
        self.order = 25  # after other recorders, before early stopping ends the training
        self.before_iteration = False
        self._start(0)
        flat = np.zeros(self.queries.n_documents)
        self._measure(flat, flat, 0)  # compiles the kernels, and raises for invalid input

    def __call__(self, env: Any) -> None:
        """Record a round of LightGBM."""
        if hasattr(env.model, "boosters"):
            raise TypeError(ONE_BOOSTER)
        trees, predict = _of_model(env.model, self.features)
        if env.iteration == env.begin_iteration:
            self._start(max(trees - 1, 0))
        self._round_done(env.iteration, trees, predict)

    def xgboost(self) -> Any:
        """A callback for ``callbacks=[…]`` of `xgboost.train` that writes to this recorder."""
        package("xgboost")
        from xgboost import Booster
        from xgboost.callback import TrainingCallback

        recorder = self

        class Follower(TrainingCallback):
            """Reports each round; never stops."""

            def before_training(self, model: Any) -> Any:
                """Check the booster and begin."""
                if not isinstance(model, Booster):
                    raise TypeError(ONE_BOOSTER)
                trees, self.predict = _of_model(model, recorder.features)
                recorder._start(trees)
                return model

            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                """Report the round."""
                trees = model.num_boosted_rounds()
                recorder._round_done(trees - 1, trees, self.predict)
                return False

        return Follower()

    def _start(self, trees: int) -> None:
        """Reset before a training that continues from `trees` trees."""
        self._rows: dict[int, dict[str, float]] = {}
        self._scores = np.zeros(self.queries.n_documents)
        self._summed, self._trees = 0, trees
        self.rounds_seen = 0

    def _round_done(self, iteration: int, trees: int, predict: Predict) -> None:
        """Record a round after which the model has `trees` trees."""
        if self.rounds_seen % self.every == 0:
            before = self._at(self._trees, predict)
            self._rows[iteration] = self._measure(before, self._at(trees, predict), iteration)
        self.rounds_seen += 1
        self._trees = trees

    def _at(self, trees: int, predict: Predict) -> NDArray[np.float64]:
        """The scores of the first `trees` rounds, by the trees that were not summed up before."""
        if trees < self._summed:  # trees were removed
            self._scores, self._summed = np.zeros_like(self._scores), 0
        if trees > self._summed:
            added = np.asarray(predict(self._summed, trees))
            # A second target only serves the splits.
            self._scores = self._scores + (added if added.ndim == 1 else added[:, 0])
            self._summed = trees
        return self._scores

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
        row["changed_top"], row["changed_full"] = rank_changes(before, after, q, self.k)
        return row | {repr(NDCG(self.k)): NDCG(self.k)(after, q)}

    @property
    def rounds_recorded(self) -> int:
        """Number of recorded rounds."""
        return len(self._rows)

    def frame(self) -> pd.DataFrame:
        """The records, one row per round.

        Indexed by ``round``, from 0. Columns of the λ that the round's tree was fitted to: ``agreement of … with …`` of
        each pair of `compare`, ``share_v`` for partners of grade v. Columns of the ranking after the round: ``top_v``
        for grade v in the top, ``changed_top`` and ``changed_full`` against the ranking before it, and NDCG at k. All
        are in [0, 1].
        """
        import pandas as pd

        return pd.DataFrame(
            list(self._rows.values()), index=pd.Index(list(self._rows), name="round", dtype="int64")
        )

    def __repr__(self) -> str:
        queries = f"{self.queries.n_queries} of {self.queries_given} queries"
        return f"Recorder({self.rounds_recorded} of {self.rounds_seen} rounds, {queries})"


def replay(recorder: Recorder, booster: Any) -> Recorder:
    """Record the rounds of a trained model, tree by tree, on the recorder's documents.

    λ are those of the objective at the scores before each round, ranks those after it. Give the recorder ``every=`` to
    skip rounds.

    `recorder` has the features and queries to score, and the objective that the model was trained with; its earlier
    records are dropped. `booster` is a lightgbm.Booster or an xgboost.Booster, not one of DART, whose trees are
    rescaled. Returns the recorder.

    Raises
    ------
    TypeError, ValueError
        If `booster` is of neither engine, or a DART model.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, Queries
    >>> from lambdaboost.lightgbm import Dataset, train
    >>> X, q = np.arange(8.0)[:, None], Queries([0, 0, 1, 1, 0, 0, 1, 1], sizes=[4, 4])
    >>> parameters = {"min_data_in_leaf": 1, "min_data_in_bin": 1, "verbose": -1}
    >>> booster = train(parameters, Dataset(X, q.relevance, group=q.sizes), rounds=2)
    >>> replay(Recorder(X, q, LambdaRank(), grades=(1,), every=1), booster).frame()["NDCG(k=3)"].tolist()
    [1.0, 1.0]

    """
    if not isinstance(recorder, Recorder):
        raise TypeError(f"recorder is {type(recorder).__name__}, expected a Recorder(X, q, objective)")
    rounds, predict = _of_model(booster, recorder.features)
    recorder._start(0)
    for round_ in range(rounds):
        recorder._round_done(round_, round_ + 1, predict)
    return recorder


def agreement_column(first: Objective, second: Objective) -> str:
    """The column name of a pair of objectives."""
    return f"agreement of {second!r} with {first!r}"


def _checked_pairs(compare: Iterable[tuple[Objective, Objective]]) -> tuple[tuple[Objective, Objective], ...]:
    pairs: tuple[Any, ...] = (compare,) if isinstance(compare, Objective) else tuple(compare)
    for at, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or [isinstance(part, Objective) for part in pair] != [True, True]:
            raise TypeError(
                f"compare[{at}] is {pair!r}: give pairs of objectives, such as (LambdaRank(), ClickTier())"
            )
    return pairs


def _of_model(booster: Any, X: Any) -> tuple[int, Predict]:
    """The number of rounds of a booster, and a function that scores a range of them."""
    engine = engine_of(booster)
    if engine is None:
        raise TypeError(
            f"booster is {type(booster).__name__}, expected a lightgbm.Booster or an xgboost.Booster"
        )
    if engine == "xgboost":
        return booster.num_boosted_rounds(), _of_xgboost(booster, X)
    if "[boosting: dart]" in booster.model_to_string(num_iteration=1):
        raise ValueError(NOT_A_SUM)

    def predict(first: int, last: int) -> Any:
        return booster.predict(X, start_iteration=first, num_iteration=last - first, raw_score=True)

    return booster.current_iteration(), predict


def _of_xgboost(booster: Any, X: Any) -> Predict:
    import xgboost as xgb

    learner = json.loads(booster.save_config())["learner"]
    if learner["gradient_booster"]["name"] != "gbtree":
        raise ValueError(NOT_A_SUM)
    # Without a base margin each call would add the intercept again; Newton leaves are trained with a second score.
    scores = int(learner["learner_model_param"]["num_target"])
    margin = np.zeros((X.shape[0], scores))
    data = xgb.DMatrix(X, base_margin=margin if scores > 1 else margin[:, 0])

    def predict(first: int, last: int) -> Any:
        return booster.predict(data, output_margin=True, iteration_range=(first, last))

    return predict
