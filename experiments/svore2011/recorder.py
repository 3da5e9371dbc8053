"""`Recorder`: figures 2, 3 and 4 of the 2011 paper, round by round, on a sample of the queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.svore2011.lambdas import high_grades, lambda_agreement, lambda_share_by_grade
from experiments.svore2011.top_ranks import rank_changes, top_grades
from lambdaboost import NDCG, Queries
from lambdaboost.objectives import Objective

# The sum of trees first:last for each document.
Predict = Callable[[int, int], NDArray[Any]]


class Recorder:
    """Records the rounds of a trained model, tree by tree, on a fixed, seeded sample of the queries.

    `objective` is the one that the model was trained with, `compare` are pairs whose `lambda_agreement` is recorded,
    `grades` those of highly relevant documents (empty for no λ shares), k is the last rank of the top. Every `every`-th
    round of at most `sample` queries is recorded. `queries` and `features` are the sample.

    >>> import lightgbm as lgb
    >>> from lambdaboost import LambdaRank
    >>> X, q = np.arange(8.0)[:, None], Queries([0, 0, 1, 1, 0, 0, 1, 1], sizes=[4, 4])
    >>> params = {"objective": LambdaRank(), "min_data_in_leaf": 1, "min_data_in_bin": 1, "verbose": -1}
    >>> booster = lgb.train(params, lgb.Dataset(X, q.relevance, group=q.sizes), 2)
    >>> Recorder(X, q, LambdaRank(), grades=(1,)).replay(booster).frame()["NDCG(k=3)"].tolist()
    [1.0, 1.0]
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
        self.objective, self.compare, self.k, self.every = objective, tuple(compare), k, every
        chosen = np.sort(np.random.default_rng(seed).permutation(q.n_queries)[:sample])
        self.queries, self.features = q.take(chosen), X[q.rows_of(chosen)]
        grades = tuple(grades)
        self.grades = tuple(high_grades(grades, self.queries)) if grades else ()
        self._rows: dict[int, dict[str, float]] = {}

    def replay(self, booster: Any) -> Self:
        """Record a model of LightGBM whose trees add up, so not one of DART; earlier records are dropped."""
        rounds, predict = rounds_of(booster, self.features)
        self._rows, scores = {}, np.zeros(self.queries.n_documents)
        for round_ in range(rounds):
            after = scores + predict(round_, round_ + 1)
            if round_ % self.every == 0:
                self._rows[round_] = self._measure(scores, after, round_)
            scores = after
        return self

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

    def frame(self) -> pd.DataFrame:
        """The records, one row per round.

        Indexed by ``round``, from 0. Columns of the λ that the round's tree was fitted to: ``agreement of … with …`` of
        each pair of `compare`, ``share_v`` for partners of grade v. Columns of the ranking after the round: ``top_v``
        for grade v in the top, ``changed_top`` and ``changed_full`` against the ranking before it, and NDCG at k. All
        are in [0, 1].
        """
        rounds = pd.Index(list(self._rows), name="round", dtype="int64")
        return pd.DataFrame(list(self._rows.values()), index=rounds)


def agreement_column(first: Objective, second: Objective) -> str:
    """The column name of a pair of objectives."""
    return f"agreement of {second!r} with {first!r}"


def rounds_of(booster: Any, X: Any) -> tuple[int, Predict]:
    """The number of rounds of a booster, and a function for the sum of trees first:last, on one thread."""
    more = {"raw_score": True, "num_threads": 1}
    return booster.current_iteration(), lambda first, last: booster.predict(
        X, start_iteration=first, num_iteration=last - first, **more
    )
