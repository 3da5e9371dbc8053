"""λ and μ of lists one after the other by tiles: from documents to slots, all pairs, and back.

Every level is a block of rows that `tiles` multiply with the run of all that is worse:

    slot       0 1 2 3 | 4 5 | 6 7 8 9 10        three levels, best first; by rank within each
    rows       0 1 2 3 ×   4 5   6 7 8 9 10
                         4 5 ×   6 7 8 9 10

Two documents below the cutoff of a measure gain nothing by a swap. So a query with a cutoff has two parts, the
documents above the cutoff and those below, each level by level; all parts are paired except the second with itself.

The loops never branch on labels. Padding makes most of them a whole number of vectors: a column with E = 0 has ρ = 0
and adds nothing.
"""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import inlined, kernel
from lambdaboost.evaluation.rankings import longest
from lambdaboost.objectives.kernels.sigmoid import curvature, pair_lambdas, sigmoid_pair, write_e
from lambdaboost.objectives.swaps.swap import (
    Document,
    gain_delta,
    rank_delta,
    rank_terms,
    split_gain,
)

# The rows of `slots`, an array with a column for each document: what pairs read of it, and its sums so far.
E, GAIN, GAIN_REST, DISCOUNT, SECOND, FACTOR, LAM, MU = map(np.int64, range(8))
N_FIGURES = 8
TILE_ROWS = 4  # rows of a tile: enough to use a loaded column four times, few enough for 32 registers
PADDING = 32  # columns are padded to a multiple of this
ROWS_CARRIED = 64 * TILE_ROWS  # rows summed into a column in float32 before the sum is carried to float64
CHUNK = 2048  # columns that a tile runs over: they and their sums stay in the nearest cache

# Which parts pair with which: above the cutoff with itself and with below, never below with below.
PAIRS_OF_PARTS = ((0, 0), (0, 1), (1, 0))


@inlined
def pair_over_gains(swap, force, i, j):
    """λ and μ of a pair over `gain_delta`, which all pairs of j with one level have in common."""
    rho, rest = sigmoid_pair(force.shift * i.e, j.e)
    return pair_lambdas(force, rho * rank_delta(swap, i, j) * i.factor, rho, rest)


@inlined
def _run(slots, lo, hi):
    """The slots lo:hi, a *run*: its rows as a tuple, each of which the compiler knows to be contiguous."""
    return (
        slots[E, lo:hi], slots[GAIN, lo:hi], slots[GAIN_REST, lo:hi], slots[DISCOUNT, lo:hi], slots[SECOND, lo:hi],
        slots[FACTOR, lo:hi], slots[LAM, lo:hi], slots[MU, lo:hi],
    )  # fmt: skip


@inlined
def _slot_document(run, x):
    """The document at x of a run."""
    return Document(
        run[E][x], run[GAIN][x], run[GAIN_REST][x], run[DISCOUNT][x], run[SECOND][x], run[FACTOR][x]
    )


@inlined
def _add_tile(swap, force, rows, x, columns):
    """Add the pairs of four rows of one level, from x on, with all columns."""
    i0, i1, i2, i3 = (
        _slot_document(rows, x),
        _slot_document(rows, x + 1),
        _slot_document(rows, x + 2),
        _slot_document(rows, x + 3),
    )
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0)  # λ and μ of the rows
    column_lam, column_mu = columns[LAM], columns[MU]
    for y in range(column_lam.size):
        j = _slot_document(columns, y)
        of_gains = gain_delta(swap, i0, j)
        f0, c0 = pair_over_gains(swap, force, i0, j)
        f1, c1 = pair_over_gains(swap, force, i1, j)
        f2, c2 = pair_over_gains(swap, force, i2, j)
        f3, c3 = pair_over_gains(swap, force, i3, j)
        a0 += of_gains * f0
        a1 += of_gains * f1
        a2 += of_gains * f2
        a3 += of_gains * f3
        b0 += of_gains * c0
        b1 += of_gains * c1
        b2 += of_gains * c2
        b3 += of_gains * c3
        column_lam[y] -= of_gains * ((f0 + f1) + (f2 + f3))
        column_mu[y] += of_gains * ((c0 + c1) + (c2 + c3))
    lam, mu = rows[LAM], rows[MU]
    lam[x] += a0
    lam[x + 1] += a1
    lam[x + 2] += a2
    lam[x + 3] += a3
    mu[x] += b0
    mu[x + 1] += b1
    mu[x + 2] += b2
    mu[x + 3] += b3


@inlined
def _add_row(swap, force, rows, x, columns):
    """Add the pairs of row x with all columns."""
    i = _slot_document(rows, x)
    a = b = np.float32(0)
    column_lam, column_mu = columns[LAM], columns[MU]
    for y in range(column_lam.size):
        j = _slot_document(columns, y)
        of_gains = gain_delta(swap, i, j)
        f, c = pair_over_gains(swap, force, i, j)
        a += of_gains * f
        b += of_gains * c
        column_lam[y] -= of_gains * f
        column_mu[y] += of_gains * c
    lam, mu = rows[LAM], rows[MU]
    lam[x] += a
    mu[x] += b


@inlined
def _carry_to_float64(slots, sums, n):
    """Add what n slots have summed in float32 to their float64 sums, and start again."""
    lam, mu, carried_lam, carried_mu = slots[LAM], slots[MU], sums[0], sums[1]
    for slot in range(n):
        carried_lam[slot] += lam[slot]
        carried_mu[slot] += mu[slot]
        lam[slot] = mu[slot] = 0


@inlined
def _place_levels(cutoff, by_rank, level_of, size, start):
    """Write where each level of each part starts, and where the parts end; between them is room for padding.

    `size` (n_levels,) are the documents of each level, `start` is (2, n_levels + 1).
    """
    n_levels = size.size
    # The documents of each level in both parts: without a cutoff all are in the first.
    for level in range(n_levels):
        start[0, level], start[1, level] = size[level], 0
    if cutoff < by_rank.size:
        for level in range(n_levels):
            start[0, level], start[1, level] = 0, size[level]
        for rank in range(cutoff):
            level = level_of[by_rank[rank]]
            if level >= 0:
                start[0, level] += 1
                start[1, level] -= 1
    # Their sums.
    slot = 0
    for part in range(2):
        for level in range(n_levels):
            in_part = start[part, level]
            start[part, level] = slot
            slot += in_part
        start[part, n_levels] = slot
        slot += PADDING


@inlined
def _fill_slots_by_rank(
    cutoff, by_rank, level_of, scores, factor, discount, second, following, slots, s, document
):
    """Bring what pairs read of each document, besides E and the gain, to its slot.

    `following` (2, n_levels + 1) is the next free slot of each level of each part.
    """
    slot_discount, slot_second, slot_factor = slots[DISCOUNT], slots[SECOND], slots[FACTOR]
    for rank in range(by_rank.size):
        i = by_rank[rank]
        level = level_of[i]
        if level >= 0:
            part = np.int64(rank >= cutoff)
            slot = following[part, level]
            following[part, level] = slot + 1
            document[slot], s[slot] = i, scores[i]
            slot_discount[slot] = discount[rank]
            slot_second[slot] = second[rank]
            if factor.size:
                slot_factor[slot] = factor[i]


@inlined
def _fill_levels(force, scores, gain, start, s, slots, sums):
    """Bring gains and E to all slots, E = 0 to padding, and λ = μ = 0."""
    n_levels = gain.size
    best = worst = scores[0]
    for i in range(scores.size):
        best, worst = max(best, scores[i]), min(worst, scores[i])
    e, slot_gain, gain_rest, lam, mu = slots[E], slots[GAIN], slots[GAIN_REST], slots[LAM], slots[MU]
    carried_lam, carried_mu = sums[0], sums[1]
    for part in range(2):
        for level in range(n_levels):
            of_level, rest = split_gain(gain[level])
            for slot in range(start[part, level], start[part, level + 1]):
                slot_gain[slot], gain_rest[slot] = of_level, rest
        lo, hi = start[part, 0], start[part, n_levels]
        write_e(force, best, worst, s[lo:hi], e[lo:hi])
        for slot in range(hi, hi + PADDING):
            e[slot] = 0
    for slot in range(start[1, n_levels] + PADDING):
        lam[slot] = mu[slot] = carried_lam[slot] = carried_mu[slot] = 0


@inlined
def _add_levels(swap, force, reach, n_parts, start, slots, sums):
    """Add the pairs of each level with all that are worse, in all parts."""
    n_levels = reach.size
    n_slots = start[1, n_levels] + PADDING
    since = 0  # rows since sums were carried
    for own_part, other_part in PAIRS_OF_PARTS:
        if max(own_part, other_part) >= n_parts:
            continue
        own, other = start[own_part], start[other_part]
        for level in range(n_levels):
            lo, hi = other[level + 1], other[reach[level]]
            if lo == hi:
                continue
            if hi == other[n_levels]:  # only padding follows: whole vectors
                hi = lo + (hi - lo + PADDING - 1) // PADDING * PADDING
            for first in range(own[level], own[level + 1], ROWS_CARRIED):
                last = min(first + ROWS_CARRIED, own[level + 1])
                if since + last - first > ROWS_CARRIED:
                    _carry_to_float64(slots, sums, n_slots)
                    since = 0
                since += last - first
                rows, in_tiles = _run(slots, first, last), (last - first) // TILE_ROWS * TILE_ROWS
                for chunk in range(lo, hi, CHUNK):
                    columns = _run(slots, chunk, min(chunk + CHUNK, hi))
                    for x in range(0, in_tiles, TILE_ROWS):
                        _add_tile(swap, force, rows, x, columns)
                    for x in range(in_tiles, last - first):
                        _add_row(swap, force, rows, x, columns)
    _carry_to_float64(slots, sums, n_slots)


@kernel
def sum_by_tiles(first, last, offsets, selected, order, scores, levels, gain, factor, swap, force, out):
    """Write λ and μ of selected queries of first:last, no two scores of which are more than RATIO_RANGE / σ apart.

    All kernels of long lists are called so:

    - `offsets` int64 (n_queries + 1,): the documents of query q are ``offsets[q]:offsets[q + 1]``; `selected` bool
      (n_queries,);
    - `order` int32 (n_documents,): the documents of each query by the ranking whose swaps weight pairs, counted within
      the query. If there is a cutoff, those past it come last; `sum_by_sweep` needs discounts that fall;
    - `scores` float64 (n_documents,); `levels`, see `Levels`; `gain` float64 (n_levels,) of each level;
    - `factor` float32 (n_documents,), by which a pair is multiplied where the document is the better; empty where
      all are 1;
    - `swap` and `force` say what |ΔZ|, and what λ and μ of a pair are; `out` float32 (2, n_documents).
    """
    n, n_levels = longest(first, last, offsets), longest(first, last, levels.first)
    discount, second = np.zeros(n), np.zeros(n)  # by rank
    # By slot: what a pair reads and sums, λ and μ carried to float64, score, document.
    n_slots = n + 3 * PADDING
    slots, sums = np.zeros((N_FIGURES, n_slots), np.float32), np.empty((2, n_slots))
    slots[FACTOR] = 1
    s, document = np.empty(n_slots), np.empty(n_slots, np.int32)
    # Where each level of each part starts.
    start, following = np.empty((2, n_levels + 1), np.int64), np.empty((2, n_levels + 1), np.int64)
    for q in range(first, last):
        if not selected[q]:
            continue
        a, b, base, end = offsets[q], offsets[q + 1], levels.first[q], levels.first[q + 1]
        by_rank, level_of, of_query, of_factor = order[a:b], levels.of_document[a:b], scores[a:b], factor[a:b]
        reach, lam, mu = levels.reach[base:end], out[0, a:b], out[1, a:b]
        # Documents that pair with none have no slot.
        for i in range(b - a):
            lam[i] = mu[i] = 0
        if reach.size < 2:
            continue

        # From documents to slots.
        cutoff = rank_terms(swap, a, by_rank, discount[: b - a], second[: b - a])
        _place_levels(cutoff, by_rank, level_of, levels.size[base:end], start)
        for part in range(2):
            for level in range(reach.size):
                following[part, level] = start[part, level]
        _fill_slots_by_rank(
            cutoff, by_rank, level_of, of_query, of_factor, discount, second, following, slots, s, document
        )
        _fill_levels(force, of_query, gain[base:end], start, s, slots, sums)

        # All pairs, and the sums back to the documents.
        _add_levels(swap, force, reach, 2 if cutoff < b - a else 1, start, slots, sums)
        for part in range(2):
            for slot in range(start[part, 0], start[part, reach.size]):
                lam[document[slot]], mu[document[slot]] = sums[0, slot], curvature(force, sums[1, slot])
