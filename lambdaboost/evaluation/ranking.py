"""`ranking`: the documents of each query from the highest score down, ties in input order.

`over_rankings` hands the rankings to the kernel of a measure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries

ALL = np.iinfo(np.int64).max  # the cutoff that cuts nothing
FEW = 16  # up to here, inserting into a short list beats sorting the query


def ranking(
    scores: NDArray[np.float64], offsets: NDArray[np.int64], k: int | None = None
) -> NDArray[np.int64]:
    """The documents of each query in rank order; ties in input order.

    Parameters
    ----------
    scores : float64 (n_documents,)
        Finite scores.
    offsets : int64 (n_queries + 1,)
        Query q holds rows ``offsets[q]:offsets[q + 1]``.
    k : int, optional
        Order only the first k ranks of each query; what stands at later ranks is then without meaning.

    Returns
    -------
    int64 (n_documents,)
        At ``offsets[q] + r - 1`` the document at rank r of query q, counted from 0 inside the query.

    Examples
    --------
    >>> ranking(np.array([0.1, 0.9, 0.9, 3.0, 4.0]), np.array([0, 3, 5]))
    array([1, 2, 0, 1, 0])

    """
    order = np.zeros(offsets[-1], dtype=np.int64)
    over_queries(_rank_queries, offsets, scores, ALL if k is None else k, order)
    return order


def over_rankings(
    function: Callable[..., None],
    scores: NDArray[np.float64],
    offsets: NDArray[np.int64],
    k: int | None,
    *args: Any,
) -> NDArray[np.float64]:
    """One figure a query: what ``function(first, last, offsets, order, *args, out)`` writes to `out`."""
    out = np.empty(offsets.size - 1)
    over_queries(function, offsets, ranking(scores, offsets, k), *args, out)
    return out


@kernel
def _rank_queries(first, last, offsets, scores, k, order):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        if min(k, b - a) <= FEW:
            _rank_top(scores[a:b], min(k, b - a), order[a:b])
        else:
            by_score = np.argsort(-scores[a:b], kind="mergesort")
            for r in range(b - a):  # assigning the slice would compile seconds of error messages
                order[a + r] = by_score[r]


@kernel
def _rank_top(scores, k, order):  # type: ignore[no-untyped-def]
    """Insert each document above those of lower score in a list of at most k."""
    length = 0
    for i in range(scores.size):
        if length == k:
            if not scores[i] > scores[order[k - 1]]:
                continue
            length -= 1
        r = length
        while r > 0 and scores[i] > scores[order[r - 1]]:
            order[r] = order[r - 1]
            r -= 1
        order[r] = i
        length += 1
