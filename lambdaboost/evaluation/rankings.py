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

# How documents are sorted (`sort_queries`): each goes to a bucket by its score, and insertion orders the few of each
# bucket: 3 to 5 ns a document in lists of 120 to 10,000. Where scores far out leave most of the others in few buckets,
# insertion gives up, and each bucket is sorted like a list of its own: 10 to 60 ns where tails are heavy, and up to
# 600 ns for scores over hundreds of decades, which take that many passes.
BUCKETS = 2  # per document: few scores share a bucket, and the counts stay in the cache
MOVES = 8  # per document, of an insertion sort that may still end soon
LARGEST = 1e300  # buckets per score, which overflow nowhere


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

    The first has the highest score, the last all from the low end down, −inf too. NaN, which callers refuse, has one as
    well: its document stands anywhere, and nothing is written past the end. Halves of scores cannot overflow.
    """
    return np.int32(min(last, max(0.0, (0.5 * highest - 0.5 * score) * buckets_per_score)))


@inlined
def _sort_into_buckets(scores, lowest, highest, documents, order, ranked, bucket_of, next_in):
    """Write documents and scores by bucket, best first; inside a bucket as they come.

    Buckets divide the range from `lowest` to `highest` evenly. `bucket_of` int32 is memory for n numbers or more,
    `next_in` int32 (BUCKETS n,); where each bucket ends is left there.
    """
    last = np.float64(next_in.size - 1)
    # Where there is no range all are in the first bucket, −inf in the last.
    buckets_per_score = min(last / (0.5 * highest - 0.5 * lowest), LARGEST) if highest > lowest else 1.0
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
        order[r], ranked[r] = documents[i], scores[i]


@inlined
def _sort_by_insertion(order, ranked, moves):
    """Sort documents by score, ties as they are; False if that takes too many moves, with only some sorted."""
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


@kernel
def sort_queries(first, last, offsets, selected, scores, order):
    """Write the documents of each query that is `selected` by score to `order`.

    Whatever needs an order of documents has it from here, objectives too, so it is compiled once.
    """
    most = longest(first, last, offsets)
    # By rank: score. Before sorting: score, document, bucket. By bucket: where its next document goes.
    ranked, unsorted, next_in = np.empty(most), np.empty(most), np.empty(BUCKETS * most, np.int32)
    documents, bucket_of = np.empty(most, np.int32), np.empty(most, np.int32)
    # The runs of ranks that are still to be sorted, each of two or more, but for the first.
    starts, ends = np.empty(most // 2 + 1, np.int32), np.empty(most // 2 + 1, np.int32)
    for q in range(first, last):
        if not selected[q]:
            continue
        s, by_rank = scores[offsets[q] : offsets[q + 1]], order[offsets[q] : offsets[q + 1]]
        for i in range(s.size):
            by_rank[i], documents[i], unsorted[i] = i, i, s[i]
        starts[0], ends[0], n_runs = 0, s.size, 1
        while n_runs > 0:
            n_runs -= 1
            start, end = starts[n_runs], ends[n_runs]
            n, here = end - start, unsorted[start:end]
            highest, lowest, least = -np.inf, np.inf, np.inf  # the lowest above −inf, and the lowest of all
            for r in range(n):
                highest, least = max(highest, here[r]), min(least, here[r])
                lowest = min(lowest, here[r] if here[r] > -np.inf else np.inf)
            # Equal ones are in order.
            if not least < highest:
                continue

            own_order, own_scores, buckets = by_rank[start:end], ranked[start:end], next_in[: BUCKETS * n]
            _sort_into_buckets(
                here, lowest, highest, documents[start:end], own_order, own_scores, bucket_of, buckets
            )
            # Scores that are too near for more than one bucket, within 1e-300, are left to insertion, in n² steps.
            moves = MOVES * n if buckets[0] < n else n * n
            if _sort_by_insertion(own_order, own_scores, moves):
                continue

            # Each bucket is a run, from what is sorted so far.
            last_end = start
            for bucket in range(buckets.size):
                begin, last_end = last_end, start + buckets[bucket]
                if last_end - begin > 1:
                    starts[n_runs], ends[n_runs] = begin, last_end
                    n_runs += 1
            for r in range(start, end):
                documents[r], unsorted[r] = by_rank[r], ranked[r]


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
