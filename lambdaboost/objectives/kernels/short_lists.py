"""λ and μ over all pairs of short lists, one query a vector lane.

The tiles of `tiles` fill vector lanes with the partners of one document; a list of ten documents has too few of them.
Here a lane is a query: LANES lists of about the same length lie side by side, and every step (exponentials, ranks,
pairs) runs over a row of lanes:

    slot 0   d d d d d d …   the documents of the best level
    slot 1   d d d d d d …
    slot 2   d d d d d - …   - pads a shorter list
             lane = query

Documents stand level by level, so that i < j leaves j the worse of a pair; a mask drops pairs that do not exist. Ranks
are counted, a comparison a pair, which for short lists is cheaper than sorting; that goes by *position*, the input
order, in which a tie needs no comparison of its own.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation._lanes import LANES, count_ranks, side_by_side, to_lanes
from lambdaboost.objectives.kernels.exp import exp_minus, exp_minus_in_parts
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import curvature_of, force_of
from lambdaboost.objectives.kernels.pair_factors import ONE, factors_of, is_factored, times
from lambdaboost.objectives.kernels.pair_weight import fixed_by_rank, gap, has_h, rank_terms, step
from lambdaboost.objectives.kernels.span import RANGE, bits, from_bits, inverse, is_wide, lifted, lowered

NO_DOCUMENT = np.finfo(np.float64).min  # in the place of a score
FARTHEST_APART = 1e291  # scores of a list are nearer to each other
WIDEST = 3e8  # σ times the span of scores, up to which a whole number holds the exponent of E
LONGEST = 40  # documents of a list: from here on tiles are faster

# A slot is a row of FIELDS · LANES figures in one array, so that the compiler sees at one comparison that the row of i
# and the rows of j do not overlap: with an array for each it compares all with all, at every pair.
LEVEL, REACH, E, GAIN, D, LAM, MU, REST, H, K, UP, DOWN = (np.int64(LANES * x) for x in range(12))
SLOT = 12 * LANES


class Batches(NamedTuple):
    """The short lists of some `Queries`, LANES side by side."""

    documents: NDArray[np.int64]  # (n_batches + 1,) how many there are in the batches before each
    first: NDArray[np.int64]  # (n_batches + 1,) the slots of batch b are the rows first[b]:first[b + 1]
    query: NDArray[np.int32]  # (n_batches, LANES) the query of each lane, -1 where there is none
    position: NDArray[np.int8]  # (n_slots, LANES) where the document of each slot stands in its query
    level: NDArray[np.int8]  # (n_slots, LANES) its level within the query, -1 where it pairs with none
    reach: NDArray[np.int8]  # (n_slots, LANES) it pairs with the levels after its own and before this one


def in_batches(q: Queries, levels: Levels, which: NDArray[np.bool_]) -> Batches:
    """Those lists of up to LONGEST documents in batches by length; longer ones are left out."""
    # Their identities name the levels and the lists as long as they live, and what is kept holds them.
    key = ("in batches", id(levels.of_document), id(which))
    return q.memo(key, lambda: (_in_batches(q, levels, which), levels, which))[0]


def _in_batches(q: Queries, levels: Levels, which: NDArray[np.bool_]) -> Batches:
    documents, first, query = side_by_side(q.sizes, np.flatnonzero((q.sizes <= LONGEST) & which))
    short = query[query >= 0]
    of_short = q.sizes[short]
    lane = np.repeat(np.arange(short.size), of_short)
    start = np.cumsum(of_short) - of_short
    position = np.arange(lane.size) - np.repeat(start, of_short)
    level = levels.of_document[np.repeat(q.offsets[short], of_short) + position]
    # Level by level, documents that pair with none last.
    order = np.lexsort((np.where(level < 0, LONGEST, level), lane))
    level = level[order]
    paired = level >= 0
    own = levels.first[short[lane]] + level
    reach = np.full(level.size, -1)
    reach[paired] = _reach(levels)[own[paired]]
    row = first[lane // LANES] + position
    at = row, lane % LANES
    slots = (int(first[-1]), LANES)
    # Behind the documents of a list stand those it lacks, which no figure of its lane reads.
    batch = np.repeat(np.arange(first.size - 1), np.diff(first))
    position_of_slot = np.repeat(np.arange(slots[0]) - first[batch], LANES).reshape(slots).astype(np.int8)
    level_of_slot, reach_of_slot = np.full(slots, -1, dtype=np.int8), np.full(slots, -1, dtype=np.int8)
    position_of_slot[at], level_of_slot[at], reach_of_slot[at] = position[order], level, reach
    return Batches(documents, first, query, position_of_slot, level_of_slot, reach_of_slot)


def _reach(levels: Levels) -> NDArray[np.int64]:
    """For each level the first, counted within its query, that starts at or after the end of its run of partners."""
    n_levels = np.diff(levels.first)
    query = np.repeat(np.arange(n_levels.size), n_levels)
    # Starts ascend within a query; made to ascend over all of them, one search serves every level.
    longest = int(levels.run_end.max(initial=0)) + 1
    found = np.searchsorted(query * longest + levels.start, query * longest + levels.run_end)
    counted: NDArray[np.int64] = found - levels.first[query]
    return counted


def _by_slot(q: Queries, batches: Batches, figures: NDArray[np.float32]) -> NDArray[np.float32]:
    """A figure of each document in each slot, 0 where there is none."""

    def build() -> Any:
        query = np.repeat(batches.query, np.diff(batches.first), axis=0)
        there = (query >= 0) & (batches.position < q.sizes[query])
        rows = np.where(there, q.offsets[query] + batches.position, 0)
        return np.where(there, figures[rows], np.float32(0)), batches, figures

    return q.memo(("by slot", id(batches.query), id(figures)), build)[0]


@uncounted
def _scores_by_position(query, n, scores, offsets, s, best, worst):
    """Bring scores to their lanes, the place of no document as low as nothing else."""
    to_lanes(query, n, scores, offsets, NO_DOCUMENT, s)
    for lane in range(LANES):
        best[lane], worst[lane] = s[lane], np.inf
    for p in range(n):
        row = s[p * LANES : (p + 1) * LANES]
        for lane in range(LANES):
            best[lane] = max(best[lane], row[lane])
            worst[lane] = min(worst[lane], row[lane] if row[lane] > NO_DOCUMENT else np.inf)


@uncounted
def _exponentials(span, n, sigma, best, s, e, k):
    """E = exp(σ(s − s_max)) by position, as far as the span carries."""
    for p in range(n):
        row = slice(p * LANES, (p + 1) * LANES)
        here, e_here, k_here = s[row], e[row], k[row]
        for lane in range(LANES):
            x = sigma * min(best[lane] - here[lane], FARTHEST_APART)
            if is_wide(span):
                e_here[lane], exponent = exp_minus_in_parts(min(x, WIDEST))
                k_here[lane] = from_bits(exponent)
            else:
                e_here[lane] = exp_minus(min(x, RANGE))


@uncounted
def _to_slots(n, level, reach, slots):
    """Fill the slots with what does not depend on scores."""
    for i in range(n):
        row, level_i, reach_i = slots[i * SLOT : (i + 1) * SLOT], level[i], reach[i]
        for lane in range(LANES):
            row[LEVEL + lane], row[REACH + lane] = level_i[lane], reach_i[lane]
        for lane in range(LANES):
            row[LAM + lane] = row[MU + lane] = 0


@uncounted
def _by_position_to_slots(field, position, figures, slots):
    for i in range(position.shape[0]):
        row, position_i = slots[i * SLOT : (i + 1) * SLOT], position[i]
        for lane in range(LANES):
            row[field + lane] = figures[np.int32(position_i[lane]) * LANES + lane]


@uncounted
def _gains_to_slots(n, field, gains, slots):
    for i in range(n):
        row, gains_i = slots[i * SLOT : (i + 1) * SLOT], gains[i]
        for lane in range(LANES):
            row[field + lane] = gains_i[lane]


@uncounted
def _factors_to_slots(factors, query, offsets, position, slots):
    for lane in range(LANES):
        q = query[lane]
        n = offsets[q + 1] - offsets[q] if q >= 0 else 0
        for i in range(position.shape[0]):
            up, down = factors_of(factors, offsets[q] + position[i, lane]) if i < n else (ONE, ONE)
            slots[i * SLOT + UP + lane], slots[i * SLOT + DOWN + lane] = up, down


@uncounted
def _ranked_to_slots(n, field, position, rank, of_rank, slots):
    """A figure of each rank in the slots of the documents there."""
    for i in range(n):
        row, position_i = slots[i * SLOT : (i + 1) * SLOT], position[i]
        for lane in range(LANES):
            row[field + lane] = of_rank[rank[np.int32(position_i[lane]) * LANES + lane]]


@uncounted
def _pairs(swap, factors, force, span, shift, k_shift, n, slots):
    """λ and μ of every slot, pair by pair; rows are shifted by the loss's center."""
    for i in range(n - 1):
        one = slots[i * SLOT : (i + 1) * SLOT]
        for j in range(i + 1, n):
            other = slots[j * SLOT : (j + 1) * SLOT]
            for lane in range(LANES):
                k_i, k_j = bits(one[K + lane]) + k_shift, bits(other[K + lane])
                e_j = other[E + lane]
                e_i, v = inverse(span, shift * one[E + lane], k_i, e_j, k_j)
                rho, rest = e_j * v, e_i * v
                w = gap(swap, one[GAIN + lane], one[REST + lane], other[GAIN + lane], other[REST + lane])
                w *= step(swap, one[D + lane], one[H + lane], other[D + lane], other[H + lane])
                w = times(factors, w, one[UP + lane] * other[DOWN + lane])
                level = other[LEVEL + lane]
                w = lifted(span, w)
                w = w * rho if (level > one[LEVEL + lane]) & (level < one[REACH + lane]) else np.float32(0)
                f, c = force_of(force, w, rho, rest), curvature_of(force, w, rho, rest)
                one[LAM + lane] += f
                other[LAM + lane] -= f
                one[MU + lane] += c
                other[MU + lane] += c


@inlined
def _terms_of_lanes(weights, query, offsets, position, rank, memory, slots):
    """D and h of each slot where they depend on the ranking of its query."""
    swap, gains, discounts, cutoff, _ = weights
    by_rank, d_memory, h_memory = memory
    for lane in range(LANES):
        q = query[lane]
        for i in range(position.shape[0]):
            slots[i * SLOT + D + lane] = slots[i * SLOT + H + lane] = 0
        if q < 0:
            continue
        a, b = offsets[q], offsets[q + 1]
        for p in range(b - a):
            by_rank[rank[p * LANES + lane]] = p
        d, h, _ = rank_terms(
            swap, a, gains[0][a:b], by_rank[: b - a], discounts, cutoff, d_memory[: b - a], h_memory[: b - a]
        )
        for i in range(b - a):
            r = rank[np.int32(position[i, lane]) * LANES + lane]
            slots[i * SLOT + D + lane], slots[i * SLOT + H + lane] = d[r], h[r]


class Results(NamedTuple):
    """What the lanes write: λ and μ, the order where it has a length, and which queries are done, or too far apart."""

    lam: NDArray[np.float32]
    mu: NDArray[np.float32]
    order: NDArray[np.int32]  # by document, or of no length
    done: NDArray[np.bool_]
    far: NDArray[np.bool_]  # written by a `Narrow` span: scores too far apart for it


@inlined
def _takes(span, loss, query, best, worst, results, taken):
    """Whether any list of a batch is for these lanes, each in `taken`."""
    any_taken = False
    for lane in range(LANES):
        q = query[lane]
        apart = loss.sigma * min(best[lane] - worst[lane], FARTHEST_APART) + abs(loss.center)
        if is_wide(span):
            taken[lane] = q >= 0 and results.far[q] and apart <= WIDEST
        else:
            taken[lane] = q >= 0 and apart <= RANGE
            if q >= 0:
                results.far[q] = not taken[lane]
        any_taken = any_taken or taken[lane]
    return any_taken


@uncounted
def _write(span, query, offsets, position, rank, slots, taken, results):
    """Bring the sums of the lists that were taken to their documents."""
    for lane in range(LANES):
        if not taken[lane]:
            continue
        q = query[lane]
        results.done[q] = True
        a, m = offsets[q], offsets[q + 1] - offsets[q]
        lam, mu = results.lam[a : a + m], results.mu[a : a + m]
        for i in range(m):
            p = position[i, lane]
            lam[p] = lowered(span, slots[i * SLOT + LAM + lane])
            mu[p] = lowered(span, slots[i * SLOT + MU + lane])
        if results.order.size:
            for p in range(m):
                results.order[a + rank[p * LANES + lane]] = p


@kernel
def _block_of_batches(b0, b1, documents, offsets, lanes, pairs, scores, results):
    """λ and μ of batches b0:b1, one after the other through the same scratch memory."""
    batches, gains_of_slot = lanes
    weights, loss, span = pairs
    swap, gains, discounts, cutoff, factors = weights
    figures_of_most = LONGEST * LANES
    s, e = np.empty(figures_of_most), np.empty(figures_of_most, np.float32)
    k = np.empty(figures_of_most, np.float32) if is_wide(span) else e
    rank = np.empty(figures_of_most, np.int32)
    slots = np.zeros(LONGEST * SLOT, np.float32)
    best, worst, taken = np.empty(LANES), np.empty(LANES), np.empty(LANES, np.bool_)
    memory = np.empty(LONGEST, np.int32), np.zeros(LONGEST, np.float32), np.zeros(LONGEST, np.float32)
    if is_wide(span):
        shift, k_shift = exp_minus_in_parts(-loss.center)
    else:
        shift, k_shift = np.float32(math.exp(loss.center)), np.int32(0)
    d_of_rank, h_of_rank = memory[1], memory[2]
    if fixed_by_rank(swap):
        d_of_rank, h_of_rank, _ = rank_terms(
            swap, 0, gains[0][:0], memory[0][:0], discounts, cutoff, memory[1], memory[2]
        )
    for b in range(b0, b1):
        rows = slice(batches.first[b], batches.first[b + 1])
        query, position = batches.query[b], batches.position[rows]
        n = position.shape[0]
        _scores_by_position(query, n, scores, offsets, s, best, worst)
        if not _takes(span, loss, query, best, worst, results, taken):
            continue
        _exponentials(span, n, loss.sigma, best, s, e, k)
        count_ranks(n, s, rank)
        _to_slots(n, batches.level[rows], batches.reach[rows], slots)
        _by_position_to_slots(E, position, e, slots)
        if is_wide(span):
            _by_position_to_slots(K, position, k, slots)
        _gains_to_slots(n, GAIN, gains_of_slot[0][rows], slots)
        if has_h(swap):
            _gains_to_slots(n, REST, gains_of_slot[1][rows], slots)
        if fixed_by_rank(swap):
            _ranked_to_slots(n, D, position, rank, d_of_rank, slots)
            if has_h(swap):
                _ranked_to_slots(n, H, position, rank, h_of_rank, slots)
        else:
            _terms_of_lanes(weights, query, offsets, position, rank, memory, slots)
        if is_factored(factors):
            _factors_to_slots(factors, query, offsets, position, slots)
        _pairs(swap, factors, loss.force, span, shift, k_shift, n, slots)
        _write(span, query, offsets, position, rank, slots, taken, results)


def lists_in_lanes(
    scores: NDArray[np.float64], q: Queries, batches: Batches, pairs: Any, results: Results
) -> None:
    """Write λ and μ of the short lists; `pairs` are weights, loss and span.

    Lists longer than LONGEST are left out. A `Narrow` span leaves lists out whose scores lie too far apart for it; a
    `Wide` one takes these, except where they lie farther apart than WIDEST.
    """
    if batches.query.size:
        gains = pairs[0].gains
        of_slot = _by_slot(q, batches, gains[0]), _by_slot(q, batches, gains[1])
        over_queries(
            _block_of_batches, batches.documents, q.offsets, (batches, of_slot), pairs, scores, results
        )
