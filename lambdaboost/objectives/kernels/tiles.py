"""λ and μ of one query by tiles: from documents to slots, all pairs, and back.

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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.sigmoid import curvature, pair_lambdas, sigmoid_pair, write_e
from lambdaboost.objectives.swaps.swap import (
    ONE,
    Document,
    gain_delta,
    has_second,
    rank_delta,
    rank_terms,
    split_gain,
)

Floats = NDArray[np.float64]

# The rows of `slots`, an array with a column for each document: what pairs read of it, and its sums so far.
E, GAIN, GAIN_REST, DISCOUNT, SECOND, FACTOR, LAM, MU = map(np.int64, range(8))
N_FIGURES = 8
TILE_ROWS = 4  # rows of a tile: enough to use a loaded column four times, few enough for 32 registers
PADDING = 32  # columns are padded to a multiple of this
ROWS_CARRIED = 64 * TILE_ROWS  # rows summed into a column in float32 before the sum is carried to float64
CHUNK = 2048  # columns that a tile runs over: they and their sums stay in the nearest cache


class PairFormula(NamedTuple):
    """The weight, the force and the sigmoid of a pair: the compiler knows the first two by their types."""

    swap: Any
    force: Any
    sigmoid: Any


class Run(NamedTuple):
    """Some of the documents in `slots`, one after the other."""

    e: Any
    gain: Any
    gain_rest: Any
    discount: Any
    second: Any
    factor: Any
    lam: Any
    mu: Any


@inlined
def pair(formula, i, j):
    """λ and μ of a pair over `gain_delta`, which all pairs of j with one level have in common.

    E of the better document i is that times e^c.
    """
    rho, rest = sigmoid_pair(i.e, j.e)
    weighted = rho * rank_delta(formula.swap, i, j) * i.factor
    return pair_lambdas(formula.force, weighted, rho, rest)


@inlined
def run_of(slots, lo, hi):
    """The slots lo:hi."""
    return Run(
        slots[E, lo:hi], slots[GAIN, lo:hi], slots[GAIN_REST, lo:hi], slots[DISCOUNT, lo:hi], slots[SECOND, lo:hi],
        slots[FACTOR, lo:hi], slots[LAM, lo:hi], slots[MU, lo:hi],
    )  # fmt: skip


@inlined
def subrun(run, lo, hi):
    """A part of a run."""
    return Run(
        run.e[lo:hi], run.gain[lo:hi], run.gain_rest[lo:hi], run.discount[lo:hi], run.second[lo:hi],
        run.factor[lo:hi], run.lam[lo:hi], run.mu[lo:hi],
    )  # fmt: skip


@inlined
def row_document(formula, rows, i):
    """The document of a row, the better of a pair."""
    return Document(
        formula.sigmoid.shift * rows.e[i], rows.gain[i], rows.gain_rest[i], rows.discount[i], rows.second[i],
        rows.factor[i],
    )  # fmt: skip


@inlined
def column_document(columns, j):
    """The document of a column, the worse of a pair."""
    return Document(
        columns.e[j], columns.gain[j], columns.gain_rest[j], columns.discount[j], columns.second[j], ONE
    )


@inlined
def _tile(formula, rows, columns):
    """λ and μ of four rows of one level against a run of columns, whose sums grow."""
    i0, i1, i2, i3 = rows
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0)
    for x in range(columns.e.size):
        j = column_document(columns, x)
        u = gain_delta(formula.swap, i0, j)
        f0, c0 = pair(formula, i0, j)
        f1, c1 = pair(formula, i1, j)
        f2, c2 = pair(formula, i2, j)
        f3, c3 = pair(formula, i3, j)
        a0 += u * f0
        a1 += u * f1
        a2 += u * f2
        a3 += u * f3
        b0 += u * c0
        b1 += u * c1
        b2 += u * c2
        b3 += u * c3
        columns.lam[x] -= u * ((f0 + f1) + (f2 + f3))
        columns.mu[x] += u * ((c0 + c1) + (c2 + c3))
    return a0, a1, a2, a3, b0, b1, b2, b3


@inlined
def _row(formula, i, columns):
    """λ and μ of one row against a run of columns, whose sums grow."""
    a = b = np.float32(0)
    for x in range(columns.e.size):
        j = column_document(columns, x)
        u = gain_delta(formula.swap, i, j)
        f, c = pair(formula, i, j)
        a += u * f
        b += u * c
        columns.lam[x] -= u * f
        columns.mu[x] += u * c
    return a, b


@inlined
def rows_by_columns(formula, rows, columns):
    """Rows of one level, each to be above all columns; `carry_to_float64` follows at most ROWS_CARRIED rows."""
    n, m, lam, mu = rows.e.size, columns.e.size, rows.lam, rows.mu
    for c in range(0, m, CHUNK):
        chunk = subrun(columns, c, c + CHUNK)
        i = 0
        while i + TILE_ROWS <= n:
            four = (
                row_document(formula, rows, i),
                row_document(formula, rows, i + 1),
                row_document(formula, rows, i + 2),
                row_document(formula, rows, i + 3),
            )
            a0, a1, a2, a3, b0, b1, b2, b3 = _tile(formula, four, chunk)
            lam[i] += a0
            lam[i + 1] += a1
            lam[i + 2] += a2
            lam[i + 3] += a3
            mu[i] += b0
            mu[i + 1] += b1
            mu[i + 2] += b2
            mu[i + 3] += b3
            i += TILE_ROWS
        while i < n:
            a, b = _row(formula, row_document(formula, rows, i), chunk)
            lam[i] += a
            mu[i] += b
            i += 1


@inlined
def carry_to_float64(slots, sums, n):
    """Add what n slots have summed in float32 to their float64 sums, and start again."""
    lam, mu, carried_lam, carried_mu = slots[LAM], slots[MU], sums[0], sums[1]
    for slot in range(n):
        carried_lam[slot] += lam[slot]
        carried_mu[slot] += mu[slot]
        lam[slot] = mu[slot] = 0


@inlined
def padded_end(lo, hi, end):
    """The end of a run lo:hi of columns, moved on to whole vectors where only padding follows."""
    return lo + (hi - lo + PADDING - 1) // PADDING * PADDING if hi == end else hi


# One query: from documents to slots, all pairs, and back.

# Which parts pair with which: above the cutoff with itself and with below, never below with below.
PAIRS_OF_PARTS = ((0, 0), (0, 1), (1, 0))


class Lists(NamedTuple):
    """All queries: levels, gains and factors, scores, and the documents by the ranking whose swaps weight pairs."""

    wanted: NDArray[np.bool_]  # (n_queries,) whose λ and μ are computed
    levels: Levels
    gain: Floats  # (n_levels,)
    factor: NDArray[
        np.float32
    ]  # (n_documents,) of the better document of a pair; of no length where all are 1
    scores: Floats
    by_rank: NDArray[np.int32]  # (n_documents,) counted within the query


class TileWork(NamedTuple):
    """Memory that the queries of a block use one after the other."""

    slots: Any  # (N_FIGURES, n)
    score: Any  # (n,) of each slot
    sums: Any  # (2, n) λ and μ of each slot, carried from `slots`
    discount: Any  # (n,) by rank
    second: Any  # (n,) by rank
    document: Any  # (n,) in each slot
    start: Any  # (2, n_levels + 1) where each level of each part starts, and where the part ends
    following: Any  # the same, moved on with every document


def allocate(levels: Levels, first: int, last: int) -> TileWork:
    """Memory for queries first:last."""
    n = int(np.diff(levels.offsets[first : last + 1]).max()) + 3 * PADDING
    n_levels = int(np.diff(levels.first[first : last + 1]).max())
    start, following = np.empty((2, 2, n_levels + 1), dtype=np.int64)
    score, discount, second = np.empty((3, n))
    slots, document = np.zeros((N_FIGURES, n), dtype=np.float32), np.empty(n, dtype=np.int32)
    slots[FACTOR] = 1
    return TileWork(slots, score, np.empty((2, n)), discount, second, document, start, following)


@inlined
def _place_levels(q, cutoff, lists, n, work):
    """Where each level of each part starts; the parts are padded."""
    levels, start, following = lists.levels, work.start, work.following
    base, n_levels = levels.first[q], levels.first[q + 1] - levels.first[q]
    part = 1 if cutoff < n else 0
    for level in range(n_levels):
        following[part, level], following[1 - part, level] = levels.size[base + level], 0
    if part == 1:
        a = levels.offsets[q]
        for rank in range(cutoff):
            level = levels.of_document[a + lists.by_rank[a + rank]]
            if level >= 0:
                following[0, level] += 1
                following[1, level] -= 1
    at = 0
    for part in range(2):
        for level in range(n_levels):
            start[part, level] = at
            at += following[part, level]
            following[part, level] = start[part, level]
        start[part, n_levels] = at
        at += PADDING


@inlined
def _fill_slots(q, cutoff, lists, formula, work):
    """Bring what pairs read of each document, besides E and the gain, to its slot."""
    following, score_of_slot, document = work.following, work.score, work.document
    discount, second, factor = work.slots[DISCOUNT], work.slots[SECOND], work.slots[FACTOR]
    a, b = lists.levels.offsets[q], lists.levels.offsets[q + 1]
    by_rank, level_of, scores = lists.by_rank[a:b], lists.levels.of_document[a:b], lists.scores[a:b]
    for rank in range(by_rank.size):
        i = by_rank[rank]
        level = level_of[i]
        if level >= 0:
            part = np.int64(rank >= cutoff)
            slot = following[part, level]
            following[part, level] = slot + 1
            document[slot], score_of_slot[slot] = i, scores[i]
            discount[slot] = work.discount[rank]
            if has_second(formula.swap):
                second[slot] = work.second[rank]
            if lists.factor.size:
                factor[slot] = lists.factor[a + i]


@inlined
def _fill_levels(q, sigmoid, lists, work):
    """Gains and E of all slots; λ and μ of none."""
    start, levels, scores, lam, mu = work.start, lists.levels, work.score, work.sums[0], work.sums[1]
    e, gain, gain_rest = work.slots[E], work.slots[GAIN], work.slots[GAIN_REST]
    slot_lam, slot_mu = work.slots[LAM], work.slots[MU]
    a, b, base, end = levels.offsets[q], levels.offsets[q + 1], levels.first[q], levels.first[q + 1]
    best = worst = lists.scores[a]
    for i in range(a, b):
        best, worst = max(best, lists.scores[i]), min(worst, lists.scores[i])
    for part in range(2):
        for level in range(end - base):
            here, rest = split_gain(lists.gain[base + level])
            for slot in range(start[part, level], start[part, level + 1]):
                gain[slot], gain_rest[slot] = here, rest
        lo, hi = start[part, 0], start[part, end - base]
        write_e(sigmoid, best, worst, scores[lo:hi], e[lo:hi])
        for slot in range(hi, hi + PADDING):
            e[slot] = 0
    for slot in range(start[1, end - base] + PADDING):
        slot_lam[slot] = slot_mu[slot] = lam[slot] = mu[slot] = 0


@inlined
def _add_tile(formula, work, rows, columns):
    """Add the pairs of the rows of one level, each of which should be above all columns."""
    rows_by_columns(formula, run_of(work.slots, rows[0], rows[1]), run_of(work.slots, columns[0], columns[1]))


@inlined
def _sum_tiles(formula, reach, n_parts, work):
    """Each level against all that are worse, in all parts."""
    start, n_levels = work.start, reach.size
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
            columns = lo, padded_end(lo, hi, other[n_levels])
            for first in range(own[level], own[level + 1], ROWS_CARRIED):
                last = first + ROWS_CARRIED if first + ROWS_CARRIED < own[level + 1] else own[level + 1]
                if since + last - first > ROWS_CARRIED:
                    carry_to_float64(work.slots, work.sums, n_slots)
                    since = 0
                since += last - first
                _add_tile(formula, work, (first, last), columns)
    carry_to_float64(work.slots, work.sums, n_slots)


@kernel
def sum_by_tiles(first, last, lists, formula, work, out):
    """λ and μ of queries first:last, where they are wanted, one after the other in the same memory."""
    levels = lists.levels
    for q in range(first, last):
        if lists.wanted[q]:
            a, b = levels.offsets[q], levels.offsets[q + 1]
            lam, mu = out[0, a:b], out[1, a:b]
            for i in range(b - a):
                lam[i] = mu[i] = 0
            reach = levels.reach[levels.first[q] : levels.first[q + 1]]
            if reach.size < 2:
                continue
            discount, second = work.discount[: b - a], work.second[: b - a]
            cutoff = rank_terms(formula.swap, a, lists.by_rank[a:b], discount, second)
            _place_levels(q, cutoff, lists, b - a, work)
            _fill_slots(q, cutoff, lists, formula, work)
            _fill_levels(q, formula.sigmoid, lists, work)
            _sum_tiles(formula, reach, 2 if cutoff < b - a else 1, work)
            document, of_slot = work.document, work.sums
            for part in range(2):
                for slot in range(work.start[part, 0], work.start[part, reach.size]):
                    i = document[slot]
                    lam[i], mu[i] = of_slot[0, slot], curvature(formula.force, of_slot[1, slot])


def lambdas_by_tiles(lists: Lists, formula: PairFormula, out: Any) -> None:
    """Write λ and μ of the queries that are wanted."""

    def block(first: int, last: int, _: Any) -> None:
        sum_by_tiles(first, last, lists, formula, allocate(lists.levels, first, last), out)

    over_queries(block, lists.levels.offsets)
