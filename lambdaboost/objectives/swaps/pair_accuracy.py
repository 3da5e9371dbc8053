r"""The swap of the share of pairs in the right order.

Swapping a document i of level a and one j of a worse level b turns their own pair and those of each with the documents
between them: a level that is a or b turns one, a level between the two turns two. So

    N w = |K(r_i) − K(r_j)|,    K(r) = A(r) + B(r) + 2 Σ_{levels c between} C(r),

the documents of levels a, b and c up to rank r, N all pairs. With V_x(r) the documents worse than level x up to rank r
plus those no better, K = V_a − V_b. It is a swap by discounts, but each two levels have their own, so `_pairs`
brings the levels together two by two: d is V_a less V_b.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lambdaboost._jit import inlined
from lambdaboost.objectives.kernels.pair_weight import traits


@inlined
def _ranks(d):
    for r in range(d.size):
        d[r] = r


@inlined
def by_rank_and_level(start, end, ranks):
    """The slots of a layout by rank, and the level of each slot."""
    m = end[-1]
    level = np.empty(m, np.int32)
    last = 0
    for a in range(start.size):
        level[start[a] : end[a]] = a
        last = max(last, int(ranks[end[a] - 1]))
    slot_at = np.full(last + 1, -1, np.int32)
    for slot in range(m):
        slot_at[int(ranks[slot])] = slot
    by_rank = np.empty(m, np.int32)
    at = 0
    for slot in slot_at:
        if slot >= 0:
            by_rank[at] = slot
            at += 1
    return by_rank, level


@inlined
def no_better(a, by_rank, level, now):
    """V_a at the rank of every slot."""
    v = 0
    for slot in by_rank:
        v += int(level[slot] > a) + int(level[slot] >= a)
        now[slot] = v


@inlined
def no_better_at_rows(first, last, a, at, by_rank, level, passed, v):
    """Write V_b at the rank of each of the rows first:last of level a to v[b], for all worse levels b.

    `passed` counts the documents of each level down to rank `at`, where the rows before these end; returns where these
    do.
    """
    for i in range(first, last):
        slot = -1
        while slot != i:
            slot = by_rank[at]
            passed[level[slot]] += 1
            at += 1
        worse = 0
        for b in range(passed.size - 1, a, -1):
            v[b, i - first] = 2 * worse + passed[b]
            worse += passed[b]
    return at


@traits(has_h=True, by_levels=True)
class RightPairs(NamedTuple):
    """PairAccuracy; every document's gain is 1/N."""

    @staticmethod
    def gap(swap, gain_i, rest_i, gain_j, rest_j):
        """One over the pairs of the query."""
        return gain_i

    @staticmethod
    def step(swap, d_i, h_i, d_j, h_j):
        """How many pairs the swap turns."""
        return abs(d_i - d_j)

    @staticmethod
    def rank_terms(swap, first, gains, by_rank, discounts, cutoff, d_memory, h_memory):
        """The rank, of which `_pairs` makes d."""
        _ranks(h_memory)
        return h_memory, h_memory, cutoff
