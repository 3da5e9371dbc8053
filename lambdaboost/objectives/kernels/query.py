"""λ and μ of one query by pairs: from documents to slots, all pairs, and back.

Every level is a block of rows that `tiles` multiply with the run of all that is worse:

    slot       0 1 2 3 | 4 5 | 6 7 8 9 10        three levels, best first
    rows       0 1 2 3 ×   4 5   6 7 8 9 10
                         4 5 ×   6 7 8 9 10

Where a measure has a cutoff, rows above it meet all of the run, rows below it the part above the cutoff (`cutoff`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import by_type, kernel, uncounted
from lambdaboost.objectives.kernels.cutoff import Truncated, below_cutoff, is_truncated
from lambdaboost.objectives.kernels.exp import exp_minus, exp_minus_in_parts
from lambdaboost.objectives.kernels.layout import (
    Query,
    QueryLevels,
    lay_out,
    places_by_rank,
    scratch_memory,
    slots_of,
)
from lambdaboost.objectives.kernels.pair_weight import rank_terms
from lambdaboost.objectives.kernels.span import RANGE, close_gaps, from_bits, is_wide, lowered, pad
from lambdaboost.objectives.kernels.tiles import LANES, Rule, blocks_by_columns
from lambdaboost.objectives.kernels.two_by_two import two_by_two

Mask = NDArray[np.bool_]


class Ways(NamedTuple):
    """Which queries these kernels compute: masks of shape (n_queries,)."""

    skipped: Mask
    by_tree: Mask  # computed by the tree: here only `far` is found out
    far: Mask  # scores too far apart for a `Narrow` span: kernels of that span set it and leave these queries out


@uncounted
def _level_by_level(rule, truncated, levels, above_cutoff, slots):
    """Each level against all that are worse; with a cutoff, the rows above it."""
    start, end, run_end, cutoff_end, _ = levels
    since = 0
    for level in range(start.size):
        lo, hi = np.int64(end[level]), np.int64(run_end[level])
        if lo < hi:
            first, last = np.int64(start[level]), np.int64(cutoff_end[level])
            since = blocks_by_columns(rule, first, last, slots.rows, lo, hi, slots.columns, since)


@uncounted
def _level_by_level_to_cutoff(rule, truncated, levels, above_cutoff, slots):
    _level_by_level(rule, truncated, levels, above_cutoff, slots)
    if truncated:
        below_cutoff(rule, levels, above_cutoff, slots)


def _way(swap_traits: Any, truncated: bool) -> Any:
    """How the pairs of a query are visited."""
    if swap_traits.by_levels:
        return two_by_two
    return _level_by_level_to_cutoff if truncated else _level_by_level


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
def _one_query(rule, reach, query, of_document, levels, gains, work, out):
    """Write λ and μ of a query; `of_document` gives the level and the slot of every document."""
    a, b = query.first, query.last
    start, end, run_end, row = levels
    ranked, sums, totals = work.ranked, work.side.sums, work.side.totals
    place, cutoff_end = _places(reach, query, of_document, levels, work)
    by_level = QueryLevels(start, end, run_end, cutoff_end, row)
    best = ranked[0]
    if is_wide(rule.span):
        close_gaps(ranked[: b - a], rule.sigma)
    lay_out(rule, query, gains, by_level, place, work)
    m = np.int64(end[-1])
    for x in range(2):
        for slot in range(m + LANES):
            sums[x][slot] = totals[x][slot] = 0
    _exponentials(rule, m, best, work)
    slots = slots_of(work, rule.center, m)
    _all_pairs(rule.swap, reach, rule, query.cutoff < b - a, by_level, work.above_cutoff, slots)
    for i in range(b - a):
        slot = place[i]
        out[0][a + i] = lowered(rule.span, totals[0][slot] + sums[0][slot]) if slot >= 0 else 0.0
        out[1][a + i] = lowered(rule.span, totals[1][slot] + sums[1][slot]) if slot >= 0 else 0.0


@kernel
def block_of_queries(q0, q1, offsets, pairs, levels, scores, order, ways, out):
    """λ and μ of queries q0:q1, one after the other in the same scratch memory.

    `pairs` are the weights, the loss, the span and the reach.
    """
    weights, loss, span, reach = pairs
    swap, gains, discounts, cutoff, factors = weights
    rule = Rule(swap, factors, loss.force, span, loss.sigma, loss.center)
    level_of, slot_of, level_first, level_start, level_end, level_run_end, level_row = levels
    longest = most_levels = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
        most_levels = max(most_levels, level_first[q + 1] - level_first[q])
    work = scratch_memory(rule, is_truncated(reach), longest, most_levels)
    for q in range(q0, q1):
        if ways.skipped[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        here, by_rank, ranked = scores[a:b], order[a:b], work.ranked[: b - a]
        for r in range(b - a):
            ranked[r] = here[by_rank[r]]
        if not is_wide(span):
            ways.far[q] = loss.sigma * (ranked[0] - ranked[b - a - 1]) + abs(loss.center) > RANGE
        la, lb = level_first[q], level_first[q + 1]
        if ways.by_tree[q]:
            continue
        if lb - la < 2:
            for i in range(a, b):
                out[0][i] = out[1][i] = 0
            continue
        if not is_wide(span) and ways.far[q]:
            continue
        d_of_rank, h_of_rank, last_rank = rank_terms(
            swap,
            a,
            gains[0][a:b],
            by_rank,
            discounts,
            cutoff,
            work.d_of_rank[: b - a],
            work.h_of_rank[: b - a],
        )
        _one_query(
            rule,
            reach,
            Query(a, b, by_rank, d_of_rank, h_of_rank, last_rank),
            (level_of, slot_of),
            (level_start[la:lb], level_end[la:lb], level_run_end[la:lb], level_row[la:lb]),
            gains, work, out,
        )  # fmt: skip
