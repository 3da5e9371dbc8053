"""λ and μ of one query by pairs: from documents to slots, all pairs, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lambdaboost._jit import by_type, uncounted
from lambdaboost.objectives.kernels.exp import exp_minus
from lambdaboost.objectives.kernels.layout import QueryLevels, Slots, columns_of, lay_out, places_by_rank
from lambdaboost.objectives.kernels.level_pairs import level_by_level
from lambdaboost.objectives.kernels.pair_weight import by_levels
from lambdaboost.objectives.kernels.tiles import LANES, RANGE
from lambdaboost.objectives.kernels.two_by_two import two_by_two


def _all_pairs(swap: Any, rule: Any, wide: Any, cut: Any, levels: Any, top: Any, slots: Any) -> None:
    """All pairs of a query, in the way that its swap asks for."""
    visit = two_by_two if type(swap).traits.by_levels else level_by_level
    visit(rule, wide, cut, levels, top, slots)


@by_type(_all_pairs)
def _all_pairs_of(swap, rule, wide, cut, levels, top, slots):
    visit = two_by_two if swap.instance_class.traits.by_levels else level_by_level

    def all_pairs(swap, rule, wide, cut, levels, top, slots):
        visit(rule, wide, cut, levels, top, slots)

    return all_pairs


@uncounted
def one_query(rule, query, of_document, levels, gains, work, out):
    """Write λ and μ of a query; `of_document` gives the level and the slot of every document."""
    swap, _, sigma, center = rule
    a, b = query.first, query.last
    start, end, run_end, row = levels
    level_of, slot_of = of_document
    ranked, s, columns, sums, totals = work.to_order[0], work.s, work.columns, work.sums, work.totals
    place, top_end = slot_of[a:b], end
    if query.cutoff < b - a or by_levels(swap):  # by levels, documents stand by rank within each
        place, top_end = work.place[: b - a], work.top_end[: start.size]
        places_by_rank(query.by_rank, level_of[a:b], query.cutoff, start, work.next_place, top_end, place)
    by_level = QueryLevels(start, end, run_end, top_end, row)
    lay_out(swap, query, ranked, gains, by_level, place, Slots(s, columns, columns, sums, totals))
    m = np.int64(end[-1])
    for x in range(2):
        for slot in range(m + LANES):
            sums[x][slot] = totals[x][slot] = 0
    best, worst = ranked[0], ranked[b - a - 1]
    wide = sigma * (best - worst) + abs(center) > RANGE
    e, shifted = columns[0], work.columns[0]
    if not wide:
        for slot in range(m):
            e[slot] = exp_minus(sigma * (best - s[slot]))
        for slot in range(m, m + LANES):
            e[slot] = 0
        if center != 0:
            shifted, shift = work.shifted, np.float32(math.exp(center))
            for slot in range(m):
                shifted[slot] = shift * e[slot]
    rows = columns_of(swap, shifted, columns[1], columns[2], columns[3], columns[-1])
    slots = Slots(s, rows, columns, sums, totals)
    _all_pairs(swap, rule, wide, query.cutoff < b - a, by_level, work.top, slots)
    for i in range(b - a):
        slot = place[i]
        out[0][a + i] = totals[0][slot] + sums[0][slot] if slot >= 0 else 0.0
        out[1][a + i] = totals[1][slot] + sums[1][slot] if slot >= 0 else 0.0
