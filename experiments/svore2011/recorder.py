"""What figures 2, 3 and 4 of the 2011 paper show, round by round, on a sample of the queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.svore2011.lambdas import lambda_agreement, lambda_share_by_grade
from experiments.svore2011.top_ranks import rank_changes, top_grades
from lambdaboost import NDCG, LambdaRank, Queries
from lambdaboost.objectives import Objective

TOP = 3  # ranks


def sampled(X: Any, q: Queries, sample: int, seed: int) -> tuple[Any, Queries]:
    """At most `sample` random queries and their features."""
    chosen = np.sort(np.random.default_rng(seed).permutation(q.n_queries)[:sample])
    return X[q.rows_of(chosen)], q.take(chosen)


def record(
    booster: Any,
    X: Any,
    q: Queries,
    compare: Sequence[Objective] = (),
    grades: Sequence[int] = (),
    every: int = 1,
) -> pd.DataFrame:
    """Every `every`-th round of a LightGBM model of `LambdaRank` whose trees add up, so not one of DART.

    `compare` are objectives whose `lambda_agreement` with `LambdaRank` is recorded, `grades` those of highly relevant
    documents (empty for no λ shares).

    One row per round, indexed by ``round``, from 0. Columns of the λ that the round's tree was fitted to:
    ``agreement of …`` each of `compare`, ``share_v`` for partners of grade v. Columns of the ranking after the round:
    ``top_v`` for grade v in the first three ranks, ``changed_top`` and ``changed_full`` against the ranking before it,
    and NDCG@3. All are in [0, 1].

    >>> import lightgbm as lgb
    >>> X, q = np.arange(8.0)[:, None], Queries([0, 0, 1, 1, 0, 0, 1, 1], sizes=[4, 4])
    >>> params = {"objective": LambdaRank(), "min_data_in_leaf": 1, "min_data_in_bin": 1, "verbose": -1}
    >>> booster = lgb.train(params, lgb.Dataset(X, q.relevance, group=q.sizes), 2)
    >>> record(booster, X, q, grades=(1,))["NDCG(k=3)"].tolist()
    [1.0, 1.0]
    """
    rounds, predict = rounds_of(booster, X)
    rows, after = {}, np.zeros(q.n_documents)
    for round_ in range(rounds):
        before, after = after, after + predict(round_, round_ + 1)
        if round_ % every:
            continue
        row = {agreement_column(one): lambda_agreement(LambdaRank(), one, before, q) for one in compare}
        if grades:
            row |= {f"share_{v}": of for v, of in enumerate(lambda_share_by_grade(before, q, grades))}
        row |= {f"top_{v}": share for v, share in enumerate(top_grades(after, q, TOP))}
        row["changed_top"], row["changed_full"] = rank_changes(before, after, q, TOP)
        rows[round_] = row | {repr(NDCG(TOP)): NDCG(TOP)(after, q)}
    return pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name="round", dtype="int64"))


def agreement_column(objective: Objective) -> str:
    """The column name of an objective that is compared with `LambdaRank`."""
    return f"agreement of {objective!r}"


def rounds_of(booster: Any, X: Any) -> tuple[int, Callable[[int, int], NDArray[Any]]]:
    """The number of rounds of a booster, and a function for the sum of trees first:last, on one thread."""
    more = {"raw_score": True, "num_threads": 1}
    return booster.current_iteration(), lambda first, last: booster.predict(
        X, start_iteration=first, num_iteration=last - first, **more
    )
