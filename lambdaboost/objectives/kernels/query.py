"""λ and μ of one query by pairs: from documents to slots, all pairs, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lambdaboost._jit import by_type, uncounted
from lambdaboost.objectives.kernels.exp import exp_minus, exp_minus_in_parts
from lambdaboost.objectives.kernels.layout import QueryLevels, lay_out, places_by_rank, slots_of
from lambdaboost.objectives.kernels.level_pairs import level_by_level
from lambdaboost.objectives.kernels.pair_weight import by_levels
from lambdaboost.objectives.kernels.span import close_gaps, from_bits, is_wide, lowered, pad
from lambdaboost.objectives.kernels.tiles import LANES
from lambdaboost.objectives.kernels.two_by_two import two_by_two


def _all_pairs(swap: Any, rule: Any, truncated: Any, levels: Any, above_cutoff: Any, slots: Any) -> None:
    """All pairs of a query, in the way that its swap asks for."""
    visit = two_by_two if type(swap).traits.by_levels else level_by_level
    visit(rule, truncated, levels, above_cutoff, slots)


@by_type(_all_pairs)
def _all_pairs_of(swap, rule, truncated, levels, above_cutoff, slots):
    visit = two_by_two if swap.instance_class.traits.by_levels else level_by_level

    def all_pairs(swap, rule, truncated, levels, above_cutoff, slots):
        visit(rule, truncated, levels, above_cutoff, slots)

    return all_pairs


@uncounted
def _exponentials(rule, m, best, work):
    """E of all m slots, once more as rows where the loss has a center."""
    e, k, s = work.side.read.e, work.side.read.k, work.s
    shifted_e, shifted_k = work.shifted_e, work.shifted_k
    if is_wide(rule.span):
        for slot in range(m):
            e[slot], k_here = exp_minus_in_parts(-s[slot])
            k[slot] = from_bits(k_here)
        if rule.center != 0:
            for slot in range(m):
                shifted_e[slot], k_here = exp_minus_in_parts(-s[slot] - rule.center)
                shifted_k[slot] = from_bits(k_here)
    else:
        for slot in range(m):
            e[slot] = exp_minus(rule.sigma * (best - s[slot]))
        if rule.center != 0:
            shift = np.float32(math.exp(rule.center))
            for slot in range(m):
                shifted_e[slot] = shift * e[slot]
    pad(rule.span, work.side.read, m, m + LANES)


@uncounted
def one_query(rule, query, of_document, levels, gains, work, out):
    """Write λ and μ of a query; `of_document` gives the level and the slot of every document."""
    swap = rule.swap
    a, b = query.first, query.last
    start, end, run_end, row = levels
    level_of, slot_of = of_document
    ranked, sums, totals = work.to_order[0], work.side.sums, work.side.totals
    place, cutoff_end = slot_of[a:b], end
    if query.cutoff < b - a or by_levels(swap):  # by levels, documents stand by rank within each
        place, cutoff_end = work.place[: b - a], work.cutoff_end[: start.size]
        by_level = QueryLevels(start, end, run_end, cutoff_end, row)
        places_by_rank(query.by_rank, level_of[a:b], query.cutoff, by_level, work.next_place, place)
    by_level = QueryLevels(start, end, run_end, cutoff_end, row)
    best = ranked[0]
    if is_wide(rule.span):
        close_gaps(ranked[: b - a], rule.sigma)
    lay_out(swap, query, gains, by_level, place, work)
    m = np.int64(end[-1])
    for x in range(2):
        for slot in range(m + LANES):
            sums[x][slot] = totals[x][slot] = 0
    _exponentials(rule, m, best, work)
    slots = slots_of(work, rule.center, m)
    _all_pairs(swap, rule, query.cutoff < b - a, by_level, work.above_cutoff, slots)
    for i in range(b - a):
        slot = place[i]
        out[0][a + i] = lowered(rule.span, totals[0][slot] + sums[0][slot]) if slot >= 0 else 0.0
        out[1][a + i] = lowered(rule.span, totals[1][slot] + sums[1][slot]) if slot >= 0 else 0.0
