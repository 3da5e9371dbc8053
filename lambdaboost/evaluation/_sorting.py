"""The order of the documents of one query, without branches that a processor would guess wrong.

Up to `BLOCK` documents are sorted by counting how many stand above each: n² comparisons, but sixteen at a time and none
of them a branch. Longer lists are blocks of these, merged. Everything is stable: ties stay in input order.
"""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import kernel

BLOCK = 128  # counting beats merging two halves up to here
FEW = 16  # for so few ranks of a longer list, inserting into a short list beats sorting


@kernel
def scratch(longest):  # type: ignore[no-untyped-def]
    """What `rank_query` writes to on the way, for queries of up to `longest` documents."""
    keys = np.empty(BLOCK, dtype=np.float32)
    above, tied = np.empty(BLOCK, dtype=np.int32), np.empty(BLOCK, dtype=np.int32)
    return keys, above, tied, np.empty(longest, dtype=np.int64)


@kernel
def rank_query(scores, k, scratch, order):  # type: ignore[no-untyped-def]
    """Write the documents at the first k ranks to `order`, as long as `scores`; what stands behind is noise."""
    n = scores.size
    if k == 1 or (k <= FEW and n > BLOCK):
        _insert(scores, k, order)
    elif n <= BLOCK:
        _count(scores, 0, scratch, order)
    else:
        _merge_blocks(scores, scratch, order)


@kernel
def _insert(scores, k, order):  # type: ignore[no-untyped-def]
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


@kernel
def _count(scores, first, scratch, order):  # type: ignore[no-untyped-def]
    """Sort by the number of documents above, documents counting from `first`.

    Counted in float32, of which twice as many fit into a vector; documents that only tie there are put right.
    """
    keys, above, tied, _ = scratch
    n = scores.size
    for i in range(n):
        keys[i] = scores[i]
    _count_above(keys[:n], above)
    ranks = 0
    for i in range(n):
        ranks += above[i]
    if ranks == n * (n - 1) // 2:  # or fewer, where any two tie
        for i in range(n):
            order[above[i]] = first + i
    else:
        _place_tied(scores, first, above[:n], tied, order)


@kernel
def _place_tied(scores, first, above, tied, order):  # type: ignore[no-untyped-def]
    for i in range(scores.size):
        tied[i] = 0
    for i in range(scores.size):
        r = above[i] + tied[above[i]]
        tied[above[i]] += 1
        while r > above[i] and scores[i] > scores[order[r - 1] - first]:
            order[r] = order[r - 1]
            r -= 1
        order[r] = first + i


@kernel
def _count_above(keys, above):  # type: ignore[no-untyped-def]
    n = keys.size
    for i in range(n):
        above[i] = 0
    j = 0
    while j + 4 <= n:  # four at once, so that `above` is loaded and stored a quarter as often
        a, b, c, d = keys[j], keys[j + 1], keys[j + 2], keys[j + 3]
        for i in range(n):
            x = keys[i]
            above[i] += np.int32(a > x) + np.int32(b > x) + np.int32(c > x) + np.int32(d > x)
        j += 4
    while j < n:
        a = keys[j]
        for i in range(n):
            above[i] += np.int32(a > keys[i])
        j += 1


@kernel
def _merge_blocks(scores, scratch, order):  # type: ignore[no-untyped-def]
    n = scores.size
    source, target = order, scratch[3]
    width = BLOCK
    while width < n:  # each merge changes sides, and the last one writes to `order`
        source, target = target, source
        width *= 2
    for a in range(0, n, BLOCK):
        b = min(a + BLOCK, n)
        _count(scores[a:b], a, scratch, source[a:b])
    width = BLOCK
    while width < n:
        for a in range(0, n, 2 * width):
            _merge(scores, source, a, min(a + width, n), min(a + 2 * width, n), target)
        source, target = target, source
        width *= 2


@kernel
def _merge(scores, source, a, middle, b, target):  # type: ignore[no-untyped-def]
    """Merge the sorted ``source[a:middle]`` and ``source[middle:b]``, the first going first where they tie."""
    i, j, r = a, middle, a
    while i < middle and j < b:
        first = scores[source[i]] >= scores[source[j]]
        target[r] = source[i] if first else source[j]
        i += first
        j += not first
        r += 1
    while i < middle:
        target[r] = source[i]
        i += 1
        r += 1
    while j < b:
        target[r] = source[j]
        j += 1
        r += 1
