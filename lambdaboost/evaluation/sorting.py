"""Documents of a query by score: highest first, ties in input order, −inf last.

A bucket sort: documents are distributed into equally wide buckets of score, in input order, then sorted by insertion
inside each bucket. The distribution has no data-dependent branch that the processor could mispredict. Outliers, which
would leave all others one bucket, go to the first and the last.
"""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import called, inlined_strict_fp, kernel

BUCKETS = 2  # per document: few scores share a bucket, and the counts stay in the cache
SAMPLE = 32  # scores that say where most lie, an eighth of them outliers at either end
MOVES_PER_DOCUMENT = 8  # then clustered scores are dealt without outliers, and at last sorted by comparison
WIDEST = 1e300  # ranges from 1 / WIDEST to WIDEST can be divided into buckets without overflow


@kernel
def sort_scratch(n):
    """Memory for sorting up to n documents: scores by rank, the bucket of each, the next free place of each bucket."""
    return np.empty(n), np.empty(n, np.int32), np.empty(BUCKETS * n, np.int32)


@called
def order_documents(scores, order, scratch):
    """Write the permutation that sorts the scores of a query, descending and ties by index, to `order`."""
    ranked, bucket_of, next_in = scratch
    n = scores.size
    best = worst = scores[0]
    for i in range(n):
        best, worst = max(best, scores[i]), min(worst, scores[i])
    if best == worst:
        for i in range(n):
            order[i] = i
        return
    if worst == -np.inf:
        worst = best
        for i in range(n):
            worst = min(worst, scores[i] if scores[i] > -np.inf else best)
    for attempt in range(2):
        if attempt == 1:
            best, worst = _range_without_outliers(scores, ranked)
        if not 1 / WIDEST < best - worst < WIDEST:
            break
        _fill_buckets(scores, best, (BUCKETS * n - 1) / (best - worst), order, ranked, bucket_of, next_in)
        if _insertion_sort(order, ranked, MOVES_PER_DOCUMENT * n):
            return
    _sort_by_comparing(scores, order, bucket_of)


@called
def _range_without_outliers(scores, memory):
    """A highest and a lowest score between which most of them lie, from a sample."""
    size = min(scores.size, SAMPLE)
    for x in range(size):
        score, at = scores[x * scores.size // size], x
        while at > 0 and memory[at - 1] < score:
            memory[at] = memory[at - 1]
            at -= 1
        memory[at] = score
    high, low = memory[size // 8], memory[size - 1 - size // 8]
    return high + (high - low), low - (high - low)


@called
def _sort_by_comparing(scores, order, other):
    """Like `order_documents`, whatever the scores; `other` is int32 scratch memory, (n,).

    A merge sort: NumPy's argsort has many parts, and each kernel with it took a second longer to compile.
    """
    n = scores.size
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            left, right = first, middle
            for r in range(first, last):
                later = right < last and (left == middle or scores[order[left]] < scores[order[right]])
                if later:
                    other[r] = order[right]
                    right += 1
                else:
                    other[r] = order[left]
                    left += 1
        for r in range(n):
            order[r] = other[r]
        width *= 2


@inlined_strict_fp
def _bucket(score, best, buckets_per_score, last):
    """The bucket of a score; rounded in the order written, so that equal scores share one in every vector lane."""
    return np.int32(min(max((best - score) * buckets_per_score, 0.0), last))


@called
def _fill_buckets(scores, best, buckets_per_score, order, ranked, bucket_of, next_in):
    """Write the documents by bucket, best first; inside a bucket by index."""
    n = scores.size
    last = np.float64(BUCKETS * n - 1)
    for b in range(BUCKETS * n):
        next_in[b] = 0
    for i in range(n):
        bucket_of[i] = _bucket(scores[i], best, buckets_per_score, last)
    for i in range(n):
        next_in[bucket_of[i]] += 1
    first = np.int32(0)
    for b in range(BUCKETS * n):
        first, next_in[b] = first + next_in[b], first
    for i in range(n):
        r = next_in[bucket_of[i]]
        next_in[bucket_of[i]] = r + 1
        order[r], ranked[r] = i, scores[i]


@called
def _insertion_sort(order, ranked, moves):
    """Stable insertion sort of documents by their scores `ranked`; False if it takes more than `moves` moves."""
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
