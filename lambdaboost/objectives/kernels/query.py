"""λ and μ of one query by pairs: from documents to slots, all pairs, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lambdaboost._jit import by_type, uncounted
from lambdaboost.objectives.kernels.exp import exp_minus, exp_minus_in_parts
from lambdaboost.objectives.kernels.layout import QueryLevels, lay_out, places_by_rank, slots_of
from lambdaboost.objectives.kernels.level_pairs import Truncated, level_by_level, level_by_level_to_cutoff
from lambdaboost.objectives.kernels.span import close_gaps, from_bits, is_wide, lowered, pad
from lambdaboost.objectives.kernels.tiles import LANES
from lambdaboost.objectives.kernels.two_by_two import two_by_two


def _way(swap_traits: Any, truncated: bool) -> Any:
    """How the pairs of a query are visited."""
    if swap_traits.by_levels:
        return two_by_two
    return level_by_level_to_cutoff if truncated else level_by_level


def _all_pairs(
    swap: Any, reach: Any, rule: Any, truncated: Any, levels: Any, above_cutoff: Any, slots: Any
) -> None:
    """All pairs of a query, in the way that its swap and its cutoff ask for."""
    _way(type(swap).traits, isinstance(reach, Truncated))(rule, truncated, levels, above_cutoff, slots)


@by_type(_all_pairs)
def _all_pairs_of(swap, reach, rule, truncated, levels, above_cutoff, slots):
    visit = _way(swap.instance_class.traits, reach.instance_class is Truncated)

    def all_pairs(swap, reach, rule, truncated, levels, above_cutoff, slots):
        visit(rule, truncated, levels, above_cutoff, slots)

    return all_pairs


def _places(reach: Any, query: Any, of_document: Any, levels: Any, work: Any) -> Any:
    """The slot of each document, and where each level meets the cutoff."""
    return (_places_by_rank if isinstance(reach, Truncated) else _places_by_input)(
        reach, query, of_document, levels, work
    )


def _places_by_input(reach, query, of_document, levels, work):
    return of_document[1][query.first : query.last], levels[1]


def _places_by_rank(reach, query, of_document, levels, work):
    start, end, run_end, row = levels
    level_of, place = of_document[0][query.first : query.last], work.place[: query.last - query.first]
    by_level = QueryLevels(start, end, run_end, work.cutoff_end[: start.size], row)
    places_by_rank(query.by_rank, level_of, query.cutoff, by_level, work.next_place, place)
    return place, by_level.cutoff_end


@by_type(_places)
def _places_of(reach, query, of_document, levels, work):
    return _places_by_rank if reach.instance_class is Truncated else _places_by_input


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
def one_query(rule, reach, query, of_document, levels, gains, work, out):
    """Write λ and μ of a query; `of_document` gives the level and the slot of every document."""
    swap = rule.swap
    a, b = query.first, query.last
    start, end, run_end, row = levels
    ranked, sums, totals = work.ranked, work.side.sums, work.side.totals
    place, cutoff_end = _places(reach, query, of_document, levels, work)
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
    _all_pairs(swap, reach, rule, query.cutoff < b - a, by_level, work.above_cutoff, slots)
    for i in range(b - a):
        slot = place[i]
        out[0][a + i] = lowered(rule.span, totals[0][slot] + sums[0][slot]) if slot >= 0 else 0.0
        out[1][a + i] = lowered(rule.span, totals[1][slot] + sums[1][slot]) if slot >= 0 else 0.0
