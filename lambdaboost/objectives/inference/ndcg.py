r"""NDCG by φ_po: the table of 2008, Figure 2, for a cutoff k; the greedy merge without one (NC).

Cell [g, b]: good document g stands below b bad ones, at rank g + b from 0. The table holds the cells before the cutoff,
g + b < k. Two places where this departs from the paper's Facts 3.3 and 3.4, so as to be exact:

- A good document that earns more one row below need not stand lower there: 1/log2(2 + r) falls ever less, and at the
  cutoff all at once. So a row does not start from its predecessor's best column, but from the best column up to each,
  which a running maximum gives: O(1) a cell, O(k²) in all, the same order.
- Once a good document is past the cutoff so are all below it, whose places still bear on φ_po. Given that the first g
  are before it, the others stand below at least k − g bad documents, or lower where φ_po alone puts them: O(log n).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel
from lambdaboost.datasets import Queries
from lambdaboost.objectives.inference.merge import merge, merge_loss
from lambdaboost.objectives.inference.orders import (
    BAD,
    GOOD,
    discounts,
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


def ndcg_violators(scores: NDArray[np.float64], q: Queries, k: int | None) -> Violators:
    """ŷ for 1 − NDCG@k of grades 0 and 1."""
    longest = int(q.sizes.max())
    discount = np.append(discounts(q, None), 0.0)
    return infer(_block, scores, q, 1.0, discount, longest if k is None else min(k, longest))


@inlined
def _fill(s_good, s_bad, discount, ideal, k, rows, risen, best):
    """Fill the table row by row.

    best[g]: the highest sum over the first g good documents, all before the cutoff. risen[g, b]: whether of the columns
    up to b, b itself is best for good document g.
    """
    scale = 2.0 / (s_good.size * s_bad.size)
    sum_bad = sums(s_bad)
    running = np.zeros(min(s_bad.size, k - 1) + 1)  # best of the columns up to each, in the row above
    best[0] = 0.0
    for g in range(rows):
        highest = -np.inf
        for b in range(min(s_bad.size, k - 1 - g) + 1):
            cell = running[b] - discount[g + b] / ideal + scale * (sum_bad[b] - b * s_good[g])
            risen[g, b] = cell > highest
            highest = max(highest, cell)
            running[b] = highest
        best[g + 1] = highest


@inlined
def _split(s_good, s_bad, k, rows, own, best):
    """How many good documents stand before the cutoff in the best order."""
    scale = 2.0 / (s_good.size * s_bad.size)
    sum_good, sum_bad = sums(s_good), sums(s_bad)
    at_own = sunk_from(own, s_good, sum_bad)
    highest, at = -np.inf, rows
    for g in range(rows, -1, -1):
        if g < s_good.size and k - g > s_bad.size:
            continue  # too few bad documents to fill the ranks before the cutoff
        total = best[g]
        if g < s_good.size:
            total += scale * sunk(g, k - g, own, sum_good, sum_bad, at_own)
        if total > highest:
            highest, at = total, g
    return at


@inlined
def _clipped(s_good, s_bad, discount, ideal, k, above):
    """Write how many bad documents stand above each good one in ŷ."""
    rows = min(s_good.size, k)
    risen = np.zeros((rows, min(s_bad.size, k - 1) + 1), dtype=np.bool_)
    best = np.empty(rows + 1)
    _fill(s_good, s_bad, discount, ideal, k, rows, risen, best)
    own = higher(s_good, s_bad)
    before = _split(s_good, s_bad, k, rows, own, best)
    for g in range(before, s_good.size):
        above[g] = max(k - before, own[g])
    b = min(s_bad.size, k - before)
    for g in range(before - 1, -1, -1):
        while not risen[g, b]:
            b -= 1
        above[g] = b


@inlined
def _query(order, scores, classes, discount, k, direction):
    goods, bads = of_class(order, classes, GOOD), of_class(order, classes, BAD)
    if goods.size == 0:
        return 0.0
    ideal = 0.0
    for r in range(min(goods.size, k)):
        ideal += discount[r]
    above = np.empty(goods.size, dtype=np.int64)
    s_good, s_bad = taken(scores, goods), taken(scores, bads)
    if k >= goods.size + bads.size:
        worth = np.full(goods.size, 1 / ideal)
        merge(s_good, s_bad, worth, discount, above)
        loss = merge_loss(worth, discount, above)
    else:
        _clipped(s_good, s_bad, discount, ideal, k, above)
        loss = 1.0
        for g in range(goods.size):
            loss -= discount[g + above[g]] / ideal if g + above[g] < k else 0.0
    write_forces(goods, bads, above, direction)
    return loss


@kernel
def _block(first, last, offsets, order, scores, classes, discount, k, loss, direction):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        loss[q] = _query(order[a:b], scores[a:b], classes[a:b], discount, k, direction[a:b])
