"""λ and μ over all pairs of short lists, one query per vector lane.

The tiles of `tiles` fill vector lanes with the partners of one document; a list of ten documents has too few of them.
Here a lane is a query: LANES lists of about the same length lie side by side, and every step (exponentials, ranks,
pairs) runs over a row of lanes:

    slot 0   d d d d d d …   the documents of the best level
    slot 1   d d d d d d …
    slot 2   d d d d d - …   - pads a shorter list
             lane = query

Documents are grouped by level, so that i < j leaves j the worse of a pair; a mask drops pairs that do not exist. Ranks
are counted, with one comparison per pair, which for short lists is cheaper than sorting; that goes by *position*, the
input order, in which a tie needs no comparison of its own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import by_type, inlined, kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.lanes import LANES, LONGEST_IN_LANES, count_ranks, in_lanes, to_lanes
from lambdaboost.evaluation.levels import Levels
from lambdaboost.objectives.kernels.elementary import exp_minus
from lambdaboost.objectives.kernels.sigmoid import FLOAT64_NORMAL, curvature
from lambdaboost.objectives.kernels.tiles import (
    DISCOUNT,
    FACTOR,
    GAIN,
    GAIN_REST,
    LAM,
    MU,
    SECOND,
    E,
    pair_over_gains,
)
from lambdaboost.objectives.swaps.swap import (
    DOCUMENTS,
    QUERY,
    RANKS,
    Document,
    by_document,
    gain_delta,
    rank_terms,
    split_gain,
)

# In the place of a score. Finite: a difference of two is a number, of which `exp_minus` makes an index.
NO_DOCUMENT = np.finfo(np.float64).min
BATCHES_AT_ONCE = 64  # which bounds the memory that laying them out takes

# A slot is SLOT numbers in a row: LANES of each row of the slots of `tiles`, and of these two.
LEVEL_ROW, REACH_ROW = np.int64(8), np.int64(9)
SLOT = 10 * LANES


class Batches(NamedTuple):
    """The short lists of some `Queries`, LANES side by side."""

    documents: NDArray[np.int64]  # (n_batches + 1,) how many there are in the batches before each
    first: NDArray[np.int64]  # (n_batches + 1,) the slots of batch b are the rows first[b]:first[b + 1]
    query: NDArray[np.int32]  # (n_batches, LANES) the query of each lane, -1 where there is none
    position: NDArray[np.int8]  # (n_slots, LANES) where the document of each slot is in its query
    level: NDArray[np.int8]  # (n_slots, LANES) its level within the query, -1 where it pairs with none
    reach: NDArray[np.int8]  # (n_slots, LANES) it pairs with the levels after its own and before this one


def in_batches(q: Queries, levels: Levels) -> Batches:
    """All lists of up to LONGEST_IN_LANES documents in batches by length; cached in `q`."""

    def build() -> tuple[Batches, Levels]:
        lanes = in_lanes(q)
        slots = int(lanes.first[-1]), LANES
        batches = Batches(*lanes, *(np.full(slots, fill, dtype=np.int8) for fill in (0, -1, -1)))
        for batch in range(0, lanes.first.size - 1, BATCHES_AT_ONCE):
            last = min(batch + BATCHES_AT_ONCE, lanes.first.size - 1)
            _fill_batches(q, levels, batches, slice(batch, last))
        # The levels are kept too, so that no other has their id.
        return batches, levels

    return q.memo(("in batches", id(levels.of_document)), build)[0]


def _fill_batches(q: Queries, levels: Levels, batches: Batches, which: slice) -> None:
    """Fill the slots of some batches."""
    first, query = batches.first[which.start : which.stop + 1], batches.query[which]
    rows, first = slice(first[0], first[-1]), first - first[0]
    short = query[query >= 0]
    of_short = q.sizes[short]
    lane = np.repeat(np.arange(short.size), of_short)
    start = np.cumsum(of_short) - of_short
    position = np.arange(lane.size) - np.repeat(start, of_short)
    level = levels.of_document[np.repeat(q.offsets[short], of_short) + position]
    # Level by level, documents that pair with none last.
    order = np.lexsort((np.where(level < 0, LONGEST_IN_LANES, level), lane))
    level = level[order]
    paired = level >= 0
    places = first[lane // LANES] + position, lane % LANES
    # Padding follows the documents of a shorter list; nothing of its lane reads it.
    batch = np.repeat(np.arange(first.size - 1), np.diff(first))
    batches.position[rows] = (np.arange(first[-1]) - first[batch])[:, None]
    batches.position[rows][places], batches.level[rows][places] = position[order], level
    of_paired = places[0][paired], places[1][paired]
    batches.reach[rows][of_paired] = levels.reach[(levels.first[short[lane]] + level)[paired]]


@inlined
def _write_e(force, n, s, highest, lowest, e):
    """Write E by position from the scores `s`; products of two stay inside float32.

    `highest` and `lowest` (LANES,) are memory.
    """
    for lane in range(LANES):
        highest[lane], lowest[lane] = s[lane], np.inf
    for p in range(n):
        row = s[p * LANES : (p + 1) * LANES]
        for lane in range(LANES):
            highest[lane] = max(highest[lane], row[lane])
            lowest[lane] = min(lowest[lane], row[lane] if row[lane] > NO_DOCUMENT else np.inf)

    # E of the highest score of each lane, in the place of the lowest score: scores count from the middle of the list.
    lift = math.exp(-0.5 * force.center)
    for lane in range(LANES):
        apart = max(highest[lane] - lowest[lane], 0.0)
        lowest[lane] = lift / exp_minus(min(0.5 * force.sigma * apart, FLOAT64_NORMAL))
    for p in range(n):
        row, e_row = s[p * LANES : (p + 1) * LANES], e[p * LANES : (p + 1) * LANES]
        for lane in range(LANES):
            # Infinitely far down where there is no document.
            below = min(force.sigma * (highest[lane] - row[lane]), FLOAT64_NORMAL)
            e_row[lane] = exp_minus(below) * lowest[lane]


@inlined
def _fill_unranked(query, position, level, reach, first_level, gain, e, level_of_lane, slots):
    """Fill the slots with what does not depend on the order: levels, gains, E, and λ = μ = 0.

    `level_of_lane` (LANES,) is memory for where the levels of each list begin in `gain`.
    """
    for lane in range(LANES):
        q = query[lane]
        level_of_lane[lane] = first_level[q] if q >= 0 else 0
    for i in range(position.shape[0]):
        slot = slots[i * SLOT : (i + 1) * SLOT]
        slot_level, slot_reach, slot_position = level[i], reach[i], position[i]
        for lane in range(LANES):
            slot[LANES * LEVEL_ROW + lane] = slot_level[lane]
            slot[LANES * REACH_ROW + lane] = slot_reach[lane]
        for lane in range(LANES):
            of_level = gain[level_of_lane[lane] + max(slot_level[lane], 0)] if slot_level[lane] >= 0 else 0.0
            slot[LANES * GAIN + lane], slot[LANES * GAIN_REST + lane] = split_gain(of_level)
        for lane in range(LANES):
            slot[LANES * LAM + lane] = slot[LANES * MU + lane] = 0
        for lane in range(LANES):
            slot[LANES * E + lane] = e[np.int32(slot_position[lane]) * LANES + lane]


# Three functions that fill discount and second term of each slot, called as one, `fill_terms`. `rank` is by position
# and lane; `by_rank`, `discount` and `second` (LONGEST_IN_LANES,) are memory for the ranks of one list.


def _fill_by_rank(swap, query, position, offsets, rank, by_rank, discount, second, slots):
    """Discount and second term from one table, the same in all queries."""
    rank_terms(swap, 0, by_rank[:0], discount, second)
    for i in range(position.shape[0]):
        slot, slot_position = slots[i * SLOT : (i + 1) * SLOT], position[i]
        for lane in range(LANES):
            r = rank[np.int32(slot_position[lane]) * LANES + lane]
            slot[LANES * DISCOUNT + lane] = discount[r]
            slot[LANES * SECOND + lane] = second[r]


def _fill_by_query(swap, query, position, offsets, rank, by_rank, discount, second, slots):
    """Discount and second term of every rank of one query after the other."""
    for lane in range(LANES):
        q = query[lane]
        if q < 0:
            continue
        a, n = offsets[q], offsets[q + 1] - offsets[q]
        for p in range(n):
            by_rank[rank[p * LANES + lane]] = p
        rank_terms(swap, a, by_rank[:n], discount, second)
        for i in range(n):
            r = rank[np.int32(position[i, lane]) * LANES + lane]
            slots[i * SLOT + LANES * DISCOUNT + lane] = discount[r]
            slots[i * SLOT + LANES * SECOND + lane] = second[r]


def _fill_by_document(swap, query, position, offsets, rank, by_rank, discount, second, slots):
    """The discount of each document, whatever its rank: `MeanDcg.mean` itself, the only such swap."""
    for lane in range(LANES):
        q = query[lane]
        if q >= 0:
            of_query = swap.mean[offsets[q] : offsets[q + 1]]
            for i in range(of_query.size):
                slots[i * SLOT + LANES * DISCOUNT + lane] = of_query[position[i, lane]]


# Which of the three it is, by the swap.
FILLED_BY = {RANKS: _fill_by_rank, QUERY: _fill_by_query, DOCUMENTS: _fill_by_document}
fill_terms = by_type(lambda swap: FILLED_BY[swap.terms_of])


@inlined
def _lane_document(slot, lane):
    return Document(
        slot[LANES * E + lane],
        slot[LANES * GAIN + lane],
        slot[LANES * GAIN_REST + lane],
        slot[LANES * DISCOUNT + lane],
        slot[LANES * SECOND + lane],
        slot[LANES * FACTOR + lane],
    )


@inlined
def _add_lane_pair(swap, force, upper, lower):
    """Add the pair of two slots in every lane; the upper slot has the better document where they are a pair."""
    for lane in range(LANES):
        i, j = _lane_document(upper, lane), _lane_document(lower, lane)
        level = lower[LANES * LEVEL_ROW + lane]
        is_pair = (level > upper[LANES * LEVEL_ROW + lane]) & (level < upper[LANES * REACH_ROW + lane])
        of_gains = gain_delta(swap, i, j) if is_pair else np.float32(0)
        f, c = pair_over_gains(swap, force, i, j)
        upper[LANES * LAM + lane] += of_gains * f
        lower[LANES * LAM + lane] -= of_gains * f
        upper[LANES * MU + lane] += of_gains * c
        lower[LANES * MU + lane] += of_gains * c


@inlined
def _ranks_of_order(query, offsets, order, rank):
    """Write the rank of each document of the lists by position and lane."""
    for lane in range(LANES):
        q = query[lane]
        by_rank = order[offsets[q] : offsets[q + 1]] if q >= 0 else order[:0]
        for r in range(by_rank.size):
            rank[by_rank[r] * LANES + lane] = r


@inlined
def _write_results(force, query, position, offsets, selected, slots, out):
    """Bring the sums of the lists that are selected to their documents."""
    lam, mu = out[0], out[1]
    for lane in range(LANES):
        q = query[lane]
        if q < 0 or not selected[q]:
            continue
        for i in range(offsets[q + 1] - offsets[q]):
            document = offsets[q] + position[i, lane]
            lam[document] = slots[i * SLOT + LANES * LAM + lane]
            mu[document] = curvature(force, slots[i * SLOT + LANES * MU + lane])


@kernel
def sum_by_lanes(
    first, last, documents, batches, offsets, selected, order, is_sorted, is_shared, scores, first_level, gain, factor,
    swap, force, out,
):  # fmt: skip
    """Write λ and μ of the queries of batches first:last that are selected.

    `documents` (n_batches + 1,) are those in the batches before each, `first_level` is that of `Levels`. `gain` has one
    number more than there are levels, which is read, though not used, where a list has none. `order` is read if it
    `is_sorted`, and otherwise written if it `is_shared` with other parts. Other arguments: see `tiles.sum_by_tiles`.
    """
    # By position and lane: scores, E, ranks.
    s, e = np.empty(LONGEST_IN_LANES * LANES), np.empty(LONGEST_IN_LANES * LANES, np.float32)
    rank = np.zeros(LONGEST_IN_LANES * LANES, np.int32)
    # By lane, and by rank of one list.
    highest, lowest, level_of_lane = np.empty(LANES), np.empty(LANES), np.empty(LANES, np.int64)
    discount, second = np.zeros(LONGEST_IN_LANES), np.zeros(LONGEST_IN_LANES)
    by_rank = np.empty(LONGEST_IN_LANES, np.int32)
    slots = np.zeros(LONGEST_IN_LANES * SLOT, np.float32)  # here, so that the compiler knows its length
    for slot in range(LONGEST_IN_LANES):
        slots[slot * SLOT + LANES * FACTOR : slot * SLOT + LANES * (FACTOR + 1)] = 1
    for b in range(first, last):
        rows = slice(batches.first[b], batches.first[b + 1])
        query, position = batches.query[b], batches.position[rows]
        level, reach = batches.level[rows], batches.reach[rows]
        n = position.shape[0]

        to_lanes(query, n, scores, offsets, NO_DOCUMENT, s)
        if not is_sorted:
            count_ranks(n, s, rank)
        elif not by_document(swap):
            _ranks_of_order(query, offsets, order, rank)
        _write_e(force, n, s, highest, lowest, e)
        _fill_unranked(query, position, level, reach, first_level, gain, e, level_of_lane, slots)
        fill_terms(swap, query, position, offsets, rank, by_rank, discount, second, slots)
        if factor.size:
            for lane in range(LANES):
                q = query[lane]
                for i in range(offsets[q + 1] - offsets[q] if q >= 0 else 0):
                    slots[i * SLOT + LANES * FACTOR + lane] = factor[offsets[q] + position[i, lane]]

        for i in range(n - 1):
            for j in range(i + 1, n):
                _add_lane_pair(
                    swap, force, slots[i * SLOT : (i + 1) * SLOT], slots[j * SLOT : (j + 1) * SLOT]
                )

        _write_results(force, query, position, offsets, selected, slots, out)
        if is_shared and not is_sorted:
            for lane in range(LANES):
                q = query[lane]
                for p in range(offsets[q + 1] - offsets[q] if q >= 0 else 0):
                    order[offsets[q] + rank[p * LANES + lane]] = p
