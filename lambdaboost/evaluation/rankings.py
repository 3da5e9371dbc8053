"""`ranking`: the documents of each query by descending score, ties in input order.

`sort_by_score` returns values of the documents in that order, which `over_rankings` passes to the kernel of a measure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.lanes import LANES, LONGEST_COUNTED, count_ranks, in_lanes, to_lanes
from lambdaboost.evaluation.sorting import order_documents, sort_scratch

ALL = np.iinfo(np.int64).max  # the cutoff that counts all ranks


def ranking(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The documents of each query in rank order; ties in input order.

    Parameters
    ----------
    scores : float64 (n_documents,)
        Scores; not NaN.
    offsets : int64 (n_queries + 1,)
        Query q holds rows ``offsets[q]:offsets[q + 1]``.

    Returns
    -------
    int64 (n_documents,)
        At ``offsets[q] + r - 1`` the index, from 0 inside the query, of the document at rank r of query q.

    Examples
    --------
    >>> ranking(np.array([0.1, 0.9, 0.9, 3.0, 4.0]), np.array([0, 3, 5]))
    array([1, 2, 0, 1, 0])

    """
    order = np.empty(offsets[-1], dtype=np.int32)
    over_queries(sort_queries, offsets, np.zeros(offsets.size - 1, dtype=bool), scores, order)
    return order.astype(np.int64)


def sort_by_score(
    values: NDArray[Any], scores: NDArray[np.float64], q: Queries, k: int | None = None
) -> NDArray[Any]:
    """The `values` of the documents in rank order; undefined past the k-th rank of each query.

    >>> sort_by_score(np.array([5, 6, 7, 8, 9]), np.array([0.1, 0.9, 0.9, 3.0, 4.0]), Queries([0] * 5, sizes=[3, 2]))
    array([6, 7, 5, 9, 8])
    """
    out = np.empty_like(values)
    lanes = in_lanes(q)
    if lanes.query.size:
        over_queries(_ranked_in_lanes, lanes.documents, q.offsets, lanes, scores, values, out, lists=LANES)
    if lanes.documents[-1] < q.n_documents:
        skipped, order = q.sizes <= LONGEST_COUNTED, np.empty(q.n_documents, dtype=np.int32)
        over_queries(sort_queries, q.offsets, skipped, scores, order)
        over_queries(_by_rank, q.offsets, skipped, ALL if k is None else k, order, values, out)
    return out


def over_rankings(
    function: Callable[..., None],
    values: NDArray[Any],
    scores: NDArray[np.float64],
    q: Queries,
    k: int | None,
    *args: Any,
) -> NDArray[np.float64]:
    """One value per query, written to `out` by ``function(first, last, offsets, k, ranked values, *args, out)``."""
    out = np.empty(q.n_queries)
    in_order = sort_by_score(values, scores, q, k)
    over_queries(function, q.offsets, ALL if k is None else k, in_order, *args, out)
    return out


def mask_not_retrieved(values: NDArray[Any], scores: NDArray[np.float64], otherwise: float) -> NDArray[Any]:
    """The `values`, with `otherwise` for documents of score −inf, which were not retrieved.

    >>> mask_not_retrieved(np.array([2.0, 1.0]), np.array([-np.inf, 0.5]), otherwise=0)
    array([0., 1.])
    """
    if scores.min() > -np.inf:
        return values
    return np.where(np.isneginf(scores), values.dtype.type(otherwise), values)


@inlined
def longest(first, last, offsets):
    """Number of documents of the longest query."""
    n = 0
    for q in range(first, last):
        n = max(n, offsets[q + 1] - offsets[q])
    return n


@kernel
def sort_queries(first, last, offsets, skipped, scores, order):
    """Write the documents of each query by score to `order`, without queries `skipped`.

    Objectives call it too: whatever needs an order of documents has it from here, so it is compiled once.
    """
    scratch = sort_scratch(longest(first, last, offsets))
    for q in range(first, last):
        if not skipped[q]:
            a, b = offsets[q], offsets[q + 1]
            order_documents(scores[a:b], order[a:b], scratch)


@kernel
def _by_rank(first, last, offsets, skipped, k, order, values, out):
    for q in range(first, last):
        if not skipped[q]:
            a, b = offsets[q], offsets[q + 1]
            for r in range(min(k, b - a)):
                out[a + r] = values[a + order[a + r]]


@kernel
def _ranked_in_lanes(first, last, documents, offsets, lanes, scores, values, out):
    s, rank = np.empty(LONGEST_COUNTED * LANES), np.empty(LONGEST_COUNTED * LANES, np.int32)
    for b in range(first, last):
        n = lanes.first[b + 1] - lanes.first[b]
        to_lanes(lanes.query[b], n, scores, offsets, -np.inf, s)
        count_ranks(n, s, rank)
        for lane in range(LANES):
            q = lanes.query[b, lane]
            if q < 0:
                continue
            here, ranked = values[offsets[q] : offsets[q + 1]], out[offsets[q] : offsets[q + 1]]
            for p in range(here.size):
                ranked[rank[p * LANES + lane]] = here[p]
