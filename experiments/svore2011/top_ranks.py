"""What stands at the top of the rankings: its grades, and the share of ranks that changed between two models."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost import Queries
from lambdaboost.evaluation.rankings import ranking


def rank_changes(before: ArrayLike, after: ArrayLike, q: Queries, k: int = 3) -> tuple[float, float]:
    """The share of ranks that hold a different document: of the first k ranks, and of all (2011 paper, fig. 4).

    `before` and `after` are finite scores of two models, such as one round apart. Shares, in [0, 1], are those of each
    query, averaged over queries.

    >>> rank_changes([4, 3, 2, 1], [4, 3, 1, 2], Queries([0, 0, 0, 0], sizes=[4]), k=2)
    (0.0, 0.5)
    """
    changed = ranking(q.scores(before), q.offsets) != ranking(q.scores(after), q.offsets)
    top = _is_top(q, k)
    in_top = np.add.reduceat(changed & top, q.offsets[:-1], dtype=np.float64) / np.minimum(q.sizes, k)
    in_full = np.add.reduceat(changed, q.offsets[:-1], dtype=np.float64) / q.sizes
    return float(in_top.mean()), float(in_full.mean())


def top_grades(scores: ArrayLike, q: Queries, k: int = 3) -> NDArray[np.float64]:
    """The distribution of grades over the first k ranks (2011 paper, fig. 3b).

    Every query has equal weight; a query without a grade in its first k ranks is left out, documents without one (NaN)
    are not counted. The share of each whole grade from 0 to the highest in `q`, float64 (n_grades,), summing to 1; NaN
    where no query counts.

    >>> top_grades([0.3, 0.2, 0.1, 0.4, 0.5], Queries([2, 0, 1, 0, 0], sizes=[3, 2]), k=2)
    array([0.75, 0.  , 0.25])
    """
    n = n_grades(q)
    query = q.query_of_row[_is_top(q, k)]
    grade = q.relevance[q.offsets[query] + ranking(q.scores(scores), q.offsets)[_is_top(q, k)]]
    has = ~np.isnan(grade)
    counts = np.bincount(query[has] * n + grade[has].astype(np.int64), minlength=n * q.n_queries)
    by_query = counts.reshape(q.n_queries, n)
    by_query = by_query[by_query.any(axis=1)]
    if not by_query.size:
        return np.full(n, np.nan)
    return (by_query / by_query.sum(axis=1, keepdims=True)).mean(axis=0)


def n_grades(q: Queries) -> int:
    """The number of grades from 0 to the highest; grades are whole."""
    return 1 + int(np.nan_to_num(q.relevance).max())


def _is_top(q: Queries, k: int) -> NDArray[np.bool_]:
    """Whether each rank is among the first k of its query."""
    return np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes) < k
