"""`ranking`: the documents of each query by descending score, ties in input order.

`sort_by_score` returns values of the documents in that order, which `over_rankings` passes to the kernel of a measure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, inlined_strict_fp, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.lanes import LANES, LONGEST_IN_LANES, count_ranks, in_lanes, to_lanes

ALL = np.iinfo(np.int64).max  # the cutoff that counts all ranks

# How documents are sorted (`sort_queries`). Each goes to a bucket by its score, and insertion orders the few of each
# bucket: 3 to 5 ns a document, however long the list. Where scores far out leave most of the others in few buckets, a
# second attempt divides the range of most of them (13 to 22 ns), and what is left is merged (40 to 90 ns, which grow
# with the logarithm of the length).
BUCKETS = 2  # per document: few scores share a bucket, and the counts stay in the cache
MOVES = 8  # per document, of an insertion sort that may still end soon
REACH = 12.0  # of the buckets, where some scores lie far out (`_where_most_lie`)
LARGEST = 1e300  # ranges of scores, and buckets per score, up to here overflow nowhere


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
    over_queries(sort_queries, offsets, np.ones(offsets.size - 1, dtype=bool), scores, order)
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
        over_queries(_ranked_in_lanes, lanes.documents, q.offsets, lanes, scores, values, out)
    if lanes.documents[-1] < q.n_documents:
        long, order = q.sizes > LONGEST_IN_LANES, np.empty(q.n_documents, dtype=np.int32)
        over_queries(sort_queries, q.offsets, long, scores, order)
        over_queries(_by_rank, q.offsets, long, ALL if k is None else k, order, values, out)
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


@inlined_strict_fp
def _bucket(score, highest, buckets_per_score, last):
    """The bucket of a score; rounded in the order written, so that equal scores share one in every vector lane.

    The first has all scores from `highest` up, the last all from the low end down, −inf too. NaN, which callers refuse,
    has one as well: its document stands anywhere, and nothing is written past the end.
    """
    return np.int32(min(last, max(0.0, (highest - score) * buckets_per_score)))


@inlined
def _where_most_lie(ranked, worst):
    """A range without the scores far out, its lowest and its highest, from scores in the order of their buckets.

    It reaches REACH times the mean distance of the middle half from the middle one: four spreads of normal scores.
    """
    quarter, middle, distances = ranked.size // 4, max(ranked[ranked.size // 2], worst), 0.0
    for r in range(quarter, ranked.size - quarter):
        distances += abs(max(ranked[r], worst) - middle)
    reach = REACH * distances / (ranked.size - 2 * quarter)
    return middle - reach, middle + reach


@inlined
def _sort_into_buckets(scores, lowest, highest, order, ranked, bucket_of, next_in):
    """Write documents and scores by bucket, best first; inside a bucket by index.

    Buckets divide the range from `lowest` to `highest` evenly; scores beyond it are in the first and the last.
    `ranked` float64 and `bucket_of` int32 are memory for n numbers or more, `next_in` int32 (BUCKETS n,).
    """
    last = np.float64(next_in.size - 1)
    # Where there is no range all are in the first bucket, −inf in the last.
    buckets_per_score = min(last / (highest - lowest), LARGEST) if highest > lowest else 1.0
    for bucket in range(next_in.size):
        next_in[bucket] = 0
    for i in range(scores.size):
        bucket_of[i] = _bucket(scores[i], highest, buckets_per_score, last)
    for i in range(scores.size):
        next_in[bucket_of[i]] += 1
    start = np.int32(0)
    for bucket in range(next_in.size):
        start, next_in[bucket] = start + next_in[bucket], start
    for i in range(scores.size):
        r = next_in[bucket_of[i]]
        next_in[bucket_of[i]] = r + 1
        order[r], ranked[r] = i, scores[i]


@inlined
def _sort_by_insertion(order, ranked):
    """Sort documents by score, ties as they are; False if that takes too many moves, with only some sorted."""
    moves = MOVES * order.size
    for r in range(1, order.size):
        score = ranked[r]
        if ranked[r - 1] < score:
            document, at = order[r], r
            while at > 0 and ranked[at - 1] < score:
                order[at], ranked[at] = order[at - 1], ranked[at - 1]
                at -= 1
            order[at], ranked[at] = document, score
            moves -= r - at
            if moves < 0:
                return False
    return True


@inlined
def _sort_by_merging(scores, order, other):
    """Sort documents by score, ties as they are, whatever the scores; `other` is int32 memory, (n,)."""
    n, width = order.size, 1
    while width < n:
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            left, right = first, middle
            for r in range(first, last):
                if right < last and (left == middle or scores[order[left]] < scores[order[right]]):
                    other[r] = order[right]
                    right += 1
                else:
                    other[r] = order[left]
                    left += 1
        for r in range(n):
            order[r] = other[r]
        width *= 2


@kernel
def sort_queries(first, last, offsets, selected, scores, order):
    """Write the documents of each query that is `selected` by score to `order`.

    Whatever needs an order of documents has it from here, objectives too, so it is compiled once.
    """
    most = longest(first, last, offsets)
    # By rank: score. By document: bucket. By bucket: the next free rank.
    ranked, bucket_of, next_in = np.empty(most), np.empty(most, np.int32), np.empty(BUCKETS * most, np.int32)
    for q in range(first, last):
        if not selected[q]:
            continue
        s, by_rank = scores[offsets[q] : offsets[q + 1]], order[offsets[q] : offsets[q + 1]]
        best, worst = -np.inf, np.inf  # of the scores above −inf
        for i in range(s.size):
            by_rank[i] = i
            best = max(best, s[i])
            worst = min(worst, s[i] if s[i] > -np.inf else np.inf)

        # Where some scores lie far out, most of the others share few buckets, and insertion gives up. Then buckets
        # divide the range of most scores.
        lowest, highest, is_sorted = worst, max(best, -LARGEST), False  # where all are −inf
        for attempt in range(2 if best - worst <= LARGEST else 0):
            if attempt == 1:
                lowest, highest = _where_most_lie(ranked[: s.size], worst)
            _sort_into_buckets(s, lowest, highest, by_rank, ranked, bucket_of, next_in[: BUCKETS * s.size])
            is_sorted = _sort_by_insertion(by_rank, ranked)
            if is_sorted:
                break
        # This starts from the order of the last attempt, and is quick where that is nearly sorted.
        if not is_sorted:
            _sort_by_merging(s, by_rank, bucket_of)


@kernel
def _by_rank(first, last, offsets, selected, k, order, values, out):
    for q in range(first, last):
        if selected[q]:
            a, b = offsets[q], offsets[q + 1]
            for r in range(min(k, b - a)):
                out[a + r] = values[a + order[a + r]]


@kernel
def _ranked_in_lanes(first, last, documents, offsets, lanes, scores, values, out):
    s, rank = np.empty(LONGEST_IN_LANES * LANES), np.empty(LONGEST_IN_LANES * LANES, np.int32)
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
