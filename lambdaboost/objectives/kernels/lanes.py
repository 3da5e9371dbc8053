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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import by_type, inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.lanes import LANES, count_ranks, pack_lanes, to_lanes
from lambdaboost.objectives.kernels.levels import LONGEST_IN_LANES, Levels
from lambdaboost.objectives.kernels.sigmoid import FLOAT64_NORMAL, curvature, exp_minus
from lambdaboost.objectives.kernels.tiles import (
    DISCOUNT,
    FACTOR,
    GAIN,
    GAIN_REST,
    LAM,
    MU,
    SECOND,
    E,
    PairFormula,
    pair,
)
from lambdaboost.objectives.swaps.swap import (
    Document,
    by_document,
    gain_delta,
    has_second,
    rank_terms,
    split_gain,
)

NO_DOCUMENT = np.finfo(np.float64).min  # in the place of a score
BATCHES_AT_ONCE = 64  # which bounds the memory that laying them out takes

# A slot is SLOT figures in a row: LANES of each row of the slots of `tiles`, and of these two.
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
    # The id stays unique, since the cached value holds the levels.
    return q.memo(("in batches", id(levels.of_document)), lambda: (_in_batches(q, levels), levels))[0]


def _in_batches(q: Queries, levels: Levels) -> Batches:
    lanes = pack_lanes(q.sizes, np.flatnonzero(q.sizes <= LONGEST_IN_LANES))
    slots = int(lanes.first[-1]), LANES
    batches = Batches(*lanes, *(np.full(slots, fill, dtype=np.int8) for fill in (0, -1, -1)))
    for batch in range(0, lanes.first.size - 1, BATCHES_AT_ONCE):
        _fill_batches(q, levels, batches, slice(batch, min(batch + BATCHES_AT_ONCE, lanes.first.size - 1)))
    return batches


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
    at = first[lane // LANES] + position, lane % LANES
    # Behind the documents of a list stand those it lacks, which no figure of its lane reads.
    batch = np.repeat(np.arange(first.size - 1), np.diff(first))
    batches.position[rows] = (np.arange(first[-1]) - first[batch])[:, None]
    batches.position[rows][at], batches.level[rows][at] = position[order], level
    of_paired = at[0][paired], at[1][paired]
    batches.reach[rows][of_paired] = levels.reach[(levels.first[short[lane]] + level)[paired]]


class LaneWork(NamedTuple):
    """Memory that batches use one after the other: by position, then lane."""

    s: Any  # scores
    e: Any
    rank: Any
    best: Any  # by lane
    worst: Any
    by_rank: Any  # of one list
    discount: Any  # by rank
    second: Any
    level: Any  # by lane: where the levels of its list begin


def allocate() -> LaneWork:
    """Memory for batches of lists of up to LONGEST_IN_LANES documents."""
    most = LONGEST_IN_LANES * LANES
    scores, (best, worst), (d, h) = np.empty(most), np.empty((2, LANES)), np.empty((2, LONGEST_IN_LANES))
    e, rank, by_rank = (
        np.empty(most, np.float32),
        np.empty(most, np.int32),
        np.empty(LONGEST_IN_LANES, np.int32),
    )
    return LaneWork(scores, e, rank, best, worst, by_rank, d, h, np.empty(LANES, np.int64))


@inlined
def _exponentials(sigmoid, n, work):
    """E by position; products of two stay inside float32."""
    best, worst, lift = work.best, work.worst, math.exp(-0.5 * sigmoid.center)
    for lane in range(LANES):
        best[lane], worst[lane] = work.s[lane], np.inf
    for p in range(n):
        row = work.s[p * LANES : (p + 1) * LANES]
        for lane in range(LANES):
            best[lane] = max(best[lane], row[lane])
            worst[lane] = min(worst[lane], row[lane] if row[lane] > NO_DOCUMENT else np.inf)
    for lane in range(LANES):
        apart = max(best[lane] - worst[lane], 0.0)
        worst[lane] = lift / exp_minus(min(0.5 * sigmoid.sigma * apart, FLOAT64_NORMAL))
    for p in range(n):
        row, e = work.s[p * LANES : (p + 1) * LANES], work.e[p * LANES : (p + 1) * LANES]
        for lane in range(LANES):
            # Infinitely far down where there is no document.
            e[lane] = exp_minus(min(sigmoid.sigma * (best[lane] - row[lane]), FLOAT64_NORMAL)) * worst[lane]


@inlined
def _to_slots(batch, levels, work, slots):
    """Fill the slots with what does not depend on the order."""
    start, gain = levels
    for lane in range(LANES):
        work.level[lane] = min(start[batch.query[lane]], gain.size - 1) if batch.query[lane] >= 0 else 0
    for i in range(batch.position.shape[0]):
        row = slots[i * SLOT : (i + 1) * SLOT]
        level, reach, position = batch.level[i], batch.reach[i], batch.position[i]
        for lane in range(LANES):
            row[LANES * LEVEL_ROW + lane], row[LANES * REACH_ROW + lane] = level[lane], reach[lane]
        for lane in range(LANES):
            of_level = gain[work.level[lane] + max(level[lane], 0)] if level[lane] >= 0 else 0.0
            row[LANES * GAIN + lane], row[LANES * GAIN_REST + lane] = split_gain(of_level)
        for lane in range(LANES):
            row[LANES * LAM + lane] = row[LANES * MU + lane] = 0
        for lane in range(LANES):
            row[LANES * E + lane] = work.e[np.int32(position[lane]) * LANES + lane]


@inlined
def _factors_to_slots(factor, batch, offsets, slots):
    for lane in range(LANES):
        q = batch.query[lane]
        for i in range(offsets[q + 1] - offsets[q] if q >= 0 else 0):
            slots[i * SLOT + LANES * FACTOR + lane] = factor[offsets[q] + batch.position[i, lane]]


def _same_terms_to_slots(swap, batch, offsets, work, slots):
    rank_terms(swap, 0, work.by_rank[:0], work.discount, work.second)
    for i in range(batch.position.shape[0]):
        row, position = slots[i * SLOT : (i + 1) * SLOT], batch.position[i]
        for lane in range(LANES):
            rank = work.rank[np.int32(position[lane]) * LANES + lane]
            row[LANES * DISCOUNT + lane] = work.discount[rank]
            if has_second(swap):
                row[LANES * SECOND + lane] = work.second[rank]


def _own_terms_to_slots(swap, batch, offsets, work, slots):
    for lane in range(LANES):
        q = batch.query[lane]
        if q < 0:
            continue
        a, b = offsets[q], offsets[q + 1]
        for p in range(b - a):
            work.by_rank[work.rank[p * LANES + lane]] = p
        rank_terms(swap, a, work.by_rank[: b - a], work.discount, work.second)
        for i in range(b - a):
            r = work.rank[np.int32(batch.position[i, lane]) * LANES + lane]
            slots[i * SLOT + LANES * DISCOUNT + lane] = work.discount[r]
            slots[i * SLOT + LANES * SECOND + lane] = work.second[r]


def _document_terms_to_slots(swap, batch, offsets, work, slots):
    for lane in range(LANES):
        q = batch.query[lane]
        if q >= 0:
            of_query = swap.mean[offsets[q] : offsets[q + 1]]
            for i in range(of_query.size):
                slots[i * SLOT + LANES * DISCOUNT + lane] = of_query[batch.position[i, lane]]


def _terms_to_slots(swap):
    """Fill discount and second term of each slot: from tables where a rank or a document has one whatever the order."""
    if getattr(swap, "by_document", False):
        return _document_terms_to_slots
    return _same_terms_to_slots if getattr(swap, "fixed_by_rank", False) else _own_terms_to_slots


terms_to_slots = by_type(_terms_to_slots)


@inlined
def _document(slot, lane):
    return Document(
        slot[LANES * E + lane],
        slot[LANES * GAIN + lane],
        slot[LANES * GAIN_REST + lane],
        slot[LANES * DISCOUNT + lane],
        slot[LANES * SECOND + lane],
        slot[LANES * FACTOR + lane],
    )


@inlined
def _add_lane_pair(formula, one, other):
    """Add the pair of two slots in every lane."""
    for lane in range(LANES):
        i, j = _document(one, lane), _document(other, lane)
        i = Document(formula.sigmoid.shift * i.e, i.gain, i.gain_rest, i.discount, i.second, i.factor)
        level = other[LANES * LEVEL_ROW + lane]
        is_pair = (level > one[LANES * LEVEL_ROW + lane]) & (level < one[LANES * REACH_ROW + lane])
        u = gain_delta(formula.swap, i, j) if is_pair else np.float32(0)
        f, c = pair(formula, i, j)
        one[LANES * LAM + lane] += u * f
        other[LANES * LAM + lane] -= u * f
        one[LANES * MU + lane] += u * c
        other[LANES * MU + lane] += u * c


@inlined
def _sum_lane_pairs(formula, n, slots):
    for i in range(n - 1):
        for j in range(i + 1, n):
            _add_lane_pair(formula, slots[i * SLOT : (i + 1) * SLOT], slots[j * SLOT : (j + 1) * SLOT])


class Results(NamedTuple):
    """What the lanes read and write of queries: those that are theirs, λ and μ, and the order where it has a length."""

    by_lanes: NDArray[np.bool_]
    out: NDArray[np.float32]  # (2, n_documents)
    order: NDArray[np.int32]  # by document, or of no length


@inlined
def _write(force, batch, offsets, rank, slots, results):
    """Bring the sums of the lists to their documents."""
    lam, mu = results.out[0], results.out[1]
    for lane in range(LANES):
        q = batch.query[lane]
        if q < 0 or not results.by_lanes[q]:
            continue
        a, m = offsets[q], offsets[q + 1] - offsets[q]
        for i in range(m):
            p = a + batch.position[i, lane]
            lam[p] = slots[i * SLOT + LANES * LAM + lane]
            mu[p] = curvature(force, slots[i * SLOT + LANES * MU + lane])
        if results.order.size:
            for p in range(m):
                results.order[a + rank[p * LANES + lane]] = p


@kernel
def sum_by_lanes(first, last, lists, formula, work, results):
    """λ and μ of batches first:last, one after the other through the same memory."""
    batches, levels, scores, ranked_by, offsets, factor = lists
    slots = np.empty(LONGEST_IN_LANES * SLOT, np.float32)  # here, so that the compiler knows its length
    slots[:] = 0
    for slot in range(LONGEST_IN_LANES):
        slots[slot * SLOT + LANES * FACTOR : slot * SLOT + LANES * (FACTOR + 1)] = 1
    for b in range(first, last):
        rows = slice(batches.first[b], batches.first[b + 1])
        batch = Batches(
            batches.documents, batches.first, batches.query[b], batches.position[rows], batches.level[rows],
            batches.reach[rows],
        )  # fmt: skip
        n = batch.position.shape[0]
        if ranked_by.size:
            to_lanes(batch.query, n, ranked_by, offsets, NO_DOCUMENT, work.s)
            count_ranks(n, work.s, work.rank)
        to_lanes(batch.query, n, scores, offsets, NO_DOCUMENT, work.s)
        if not ranked_by.size and (results.order.size or not by_document(formula.swap)):
            count_ranks(n, work.s, work.rank)
        _exponentials(formula.sigmoid, n, work)
        _to_slots(batch, levels, work, slots)
        terms_to_slots(formula.swap, batch, offsets, work, slots)
        if factor.size:
            _factors_to_slots(factor, batch, offsets, slots)
        _sum_lane_pairs(formula, n, slots)
        _write(formula.force, batch, offsets, work.rank, slots, results)


def lambdas_by_lanes(
    scores: NDArray[np.float64],
    ranked_by: NDArray[np.float64],
    batches: Batches,
    levels: Levels,
    gain: NDArray[np.float64],
    factor: NDArray[np.float32],
    formula: PairFormula,
    results: Results,
) -> None:
    """Write λ and μ of the short lists that are `by_lanes`; no scores of one list lie more than RATIO_RANGE apart.

    Ranks are those by `ranked_by`, or where it has no length by the scores.
    """
    gain = gain if gain.size else np.zeros(1)  # read, though not used, where nothing has a level
    lists = batches, (levels.first, gain), scores, ranked_by, levels.offsets, factor

    def block(first: int, last: int, documents: NDArray[np.int64]) -> None:
        sum_by_lanes(first, last, lists, formula, allocate(), results)

    over_queries(block, batches.documents, lists=LANES)
