"""`top_grades`: the distribution of grades at the top of the rankings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.ranking import ranking

HIGHEST = 255  # higher values are not grades


def n_grades(q: Queries) -> int:
    """The number of grades from 0 to the highest; raises if a grade is not whole."""
    labels = q.relevance
    bad = (labels != np.floor(labels)) & ~np.isnan(labels) | (labels > HIGHEST)
    _checks.refuse_labels("relevance", labels, bad, f"give whole grades from 0 to {HIGHEST}, or round them")
    return 1 + int(np.nan_to_num(labels).max())


def top_grades(scores: ArrayLike, q: Queries, k: int = 3) -> NDArray[np.float64]:
    """The distribution of grades over the first k ranks (Svore, Volkovs and Burges 2011, fig. 3b).

    Every query has equal weight; a query without a grade in its first k ranks is left out.

    Parameters
    ----------
    scores : array of shape (n_documents,)
        Finite scores.
    q : Queries
        The documents and their grades, whole numbers; documents without one (NaN) are not counted.
    k : int
        The last rank that counts.

    Returns
    -------
    float64 (n_grades,)
        The share of each grade from 0 to the highest in `q`, summing to 1; NaN where no query counts.

    Raises
    ------
    ValueError, TypeError
        If a grade is not whole, `k` is not a whole number ≥ 1, or a score is missing.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> top_grades([0.3, 0.2, 0.1, 0.4, 0.5], Queries([2, 0, 1, 0, 0], sizes=[3, 2]), k=2)
    array([0.75, 0.  , 0.25])

    """
    k = _checks.whole("k", k, "give the last rank that counts, a whole number ≥ 1")
    if not isinstance(q, Queries):
        raise TypeError(f"q is a {type(q).__name__}: give the labels as Queries(relevance, sizes=…)")
    n = n_grades(q)
    in_query = ranking(q.scores(scores), q.offsets)
    top = np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes) < k
    query = q.query_of_row[top]
    grade = q.relevance[q.offsets[query] + in_query[top]]
    has = ~np.isnan(grade)
    counts = np.bincount(query[has] * n + grade[has].astype(np.int64), minlength=n * q.n_queries)
    by_query = counts.reshape(q.n_queries, n)
    by_query = by_query[by_query.any(axis=1)]
    if not by_query.size:
        return np.full(n, np.nan)
    return (by_query / by_query.sum(axis=1, keepdims=True)).mean(axis=0)
