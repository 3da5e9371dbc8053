r"""MRR: the best order of each loss, by where its first good document stands (2008, Figure 3); then the best of these.

With r bad documents first, r < k from 0, Δ = 1 − 1/(1 + r); with k or more Δ = 1. By φ_mrr the good document that
follows is the one of lowest score, and what stands below it is immaterial; by φ_po it is the one of highest score, and
the others stand below at least r bad documents, or lower where φ_po alone puts them. O(n log n) for the sorting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel
from lambdaboost.datasets import Queries
from lambdaboost.objectives.inference.orders import (
    BAD,
    GOOD,
    higher,
    infer,
    of_class,
    sums,
    sunk,
    sunk_from,
    taken,
    write_forces,
)
from lambdaboost.objectives.inference.violators import Violators


def mrr_violators(scores: NDArray[np.float64], q: Queries, threshold: float, k: int | None) -> Violators:
    """ŷ for 1 − reciprocal rank, by φ_mrr."""
    return infer(_block, scores, q, threshold, q.n_documents if k is None else k)


def mrr_po_violators(scores: NDArray[np.float64], q: Queries, threshold: float, k: int | None) -> Violators:
    """ŷ for 1 − reciprocal rank, by φ_po."""
    return infer(_block_po, scores, q, threshold, q.n_documents if k is None else k)


@inlined
def _loss(r, k):
    return 1.0 - 1.0 / (1 + r) if r < k else 1.0


@inlined
def _first_good(s_low, s_bad, k):
    """How many bad documents stand above the good one of lowest score."""
    total, best, at = 0.0, 0.0, 0
    for r in range(1, s_bad.size + 1):
        total += s_bad[r - 1] - s_low
        if total + _loss(r, k) > best:
            best, at = total + _loss(r, k), r
    return at


@inlined
def _query(order, scores, classes, k, direction):
    goods, bads = of_class(order, classes, GOOD), of_class(order, classes, BAD)
    if goods.size == 0:
        return 0.0
    low = goods[goods.size - 1]
    r = _first_good(scores[low], taken(scores, bads), k)
    direction[low] = -r
    for j in range(r):
        direction[bads[j]] = 1.0
    return _loss(r, k)


@inlined
def _first_good_po(s_good, s_bad, own, k):
    """How many bad documents stand above the good one of highest score."""
    scale = 2.0 / (s_good.size * s_bad.size)
    sum_good, sum_bad = sums(s_good), sums(s_bad)
    at_own = sunk_from(own, s_good, sum_bad)
    best, at = -np.inf, 0
    for r in range(s_bad.size + 1):
        first = sum_bad[r] - r * s_good[0]
        total = _loss(r, k) + scale * (first + sunk(1, r, own, sum_good, sum_bad, at_own))
        if total > best:
            best, at = total, r
    return at


@inlined
def _query_po(order, scores, classes, k, direction):
    goods, bads = of_class(order, classes, GOOD), of_class(order, classes, BAD)
    if goods.size == 0:
        return 0.0
    s_good, s_bad = taken(scores, goods), taken(scores, bads)
    above = higher(s_good, s_bad)
    r = _first_good_po(s_good, s_bad, above, k)
    above[0] = r
    for i in range(1, above.size):
        above[i] = max(above[i], r)
    write_forces(goods, bads, above, direction)
    return _loss(r, k)


@kernel
def _block(first, last, offsets, order, scores, classes, k, loss, direction):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        loss[q] = _query(order[a:b], scores[a:b], classes[a:b], k, direction[a:b])


@kernel
def _block_po(first, last, offsets, order, scores, classes, k, loss, direction):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        loss[q] = _query_po(order[a:b], scores[a:b], classes[a:b], k, direction[a:b])
