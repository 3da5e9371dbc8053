"""λ and μ of one query by tiles: from documents to slots, all pairs, and back.

Every level is a block of rows that `tiles` multiply with the run of all that is worse:

    slot       0 1 2 3 | 4 5 | 6 7 8 9 10        three levels, best first; by rank within each
    rows       0 1 2 3 ×   4 5   6 7 8 9 10
                         4 5 ×   6 7 8 9 10

Two documents below the cutoff of a measure gain nothing by a swap. So a query with a cutoff has two parts, the
documents above the cutoff and those below, each level by level; all parts are paired except the second with itself.

The same in float64, with one exponential per pair, serves scores too far apart for one float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import by_type, inlined, kernel, known_by_type, over_queries
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import ByDifference, ByRatio, Loss, curvature, write_e
from lambdaboost.objectives.kernels.pair_weight import (
    PairWeights,
    Ranked,
    factor_of,
    has_h,
    is_factored,
    rank_terms,
)
from lambdaboost.objectives.kernels.tiles import (
    FACTOR,
    GAIN,
    LAM,
    MU,
    PADDING,
    ROWS_CARRIED,
    D,
    E,
    H,
    PairFormula,
    carry_to_float64,
    padded_end,
    rows_by_columns,
    run_of,
)

Floats = NDArray[np.float64]
# Which parts pair with which: above the cutoff with itself and with below, never below with below.
PAIRS_OF_PARTS = ((0, 0), (0, 1), (1, 0))


class Lists(NamedTuple):
    """All queries: levels and weights, scores, and the documents by the ranking whose swaps weight pairs."""

    wanted: NDArray[np.bool_]  # (n_queries,) whose λ and μ are computed
    levels: Levels
    weights: PairWeights
    gain: NDArray[np.float32]  # (n_levels,)
    scores: Floats
    by_rank: NDArray[np.int32]  # (n_documents,) counted within the query


class TileWork(NamedTuple):
    """Memory that the queries of a block use one after the other."""

    slots: Any  # (7, n)
    score: Any  # (n,) of each slot
    sums: Any  # (2, n) λ and μ of each slot, carried from `slots`
    d_of_rank: Any  # (n,)
    h_of_rank: Any  # (n,)
    v_of_slot: Any  # (n,) V of the row's level at the rank of each slot, in `_by_terms`
    v_of_level: Any  # (n,) V of each level at the rank of the row
    own_v: Any  # (n,) V of its own level at the rank of each slot
    document: Any  # in each slot
    by_rank: Any  # slots by rank, where a swap reads h
    level: Any  # of each slot, in `_by_terms`
    start: Any  # (2, n_levels + 1) where each level of each part starts, and where the part ends
    following: Any  # the same, moved on with every document


def allocate(levels: Levels, first: int, last: int, dtype: Any) -> TileWork:
    """Memory for queries first:last."""
    n = int(np.diff(levels.offsets[first : last + 1]).max()) + 3 * PADDING
    n_levels = int(np.diff(levels.first[first : last + 1]).max())
    start, following = np.empty((2, 2, n_levels + 1), dtype=np.int64)
    document, by_rank, level = np.empty((3, n), dtype=np.int32)
    slots, sums, score = np.zeros((7, n), dtype=dtype), np.empty((2, n)), np.empty(n)
    d, h, v_of_slot, v_of_level, own_v = np.empty((5, n))
    return TileWork(
        slots, score, sums, d, h, v_of_slot, v_of_level, own_v, document, by_rank, level, start, following
    )


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
    d, h, factor = work.slots[D], work.slots[H], work.slots[FACTOR]
    d_of_rank, h_of_rank, placed = work.d_of_rank, work.h_of_rank, 0
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
            d[slot] = d_of_rank[rank]
            if has_h(formula.swap):
                h[slot], work.by_rank[placed] = h_of_rank[rank], slot
                placed += 1
            if is_factored(formula.factors):
                factor[slot] = factor_of(formula.factors, a + i)


@inlined
def _fill_levels(q, sigmoid, lists, work):
    """Gains and E of all slots; λ and μ of none."""
    start, levels, scores, lam, mu = work.start, lists.levels, work.score, work.sums[0], work.sums[1]
    e, gain, slot_lam, slot_mu = work.slots[E], work.slots[GAIN], work.slots[LAM], work.slots[MU]
    a, b, base, end = levels.offsets[q], levels.offsets[q + 1], levels.first[q], levels.first[q + 1]
    best = worst = lists.scores[a]
    for i in range(a, b):
        best, worst = max(best, lists.scores[i]), min(worst, lists.scores[i])
    for part in range(2):
        for level in range(end - base):
            here = lists.gain[base + level]
            for slot in range(start[part, level], start[part, level + 1]):
                gain[slot] = here
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


_can_pad = known_by_type(lambda sigmoid: sigmoid is ByRatio)  # padding adds nothing where it has E = 0


def _by_runs(swap, formula, reach, n_parts, work):
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
            columns = lo, padded_end(lo, hi, other[n_levels]) if _can_pad(formula.sigmoid) else hi
            for first in range(own[level], own[level + 1], ROWS_CARRIED):
                last = first + ROWS_CARRIED if first + ROWS_CARRIED < own[level + 1] else own[level + 1]
                if since + last - first > ROWS_CARRIED:
                    carry_to_float64(work.slots, work.sums, n_slots)
                    since = 0
                since += last - first
                _add_tile(formula, work, (first, last), columns)
    carry_to_float64(work.slots, work.sums, n_slots)


@inlined
def _terms_of_level(level, n, work):
    """Write V of a level (`swaps.pair_accuracy`) at the rank of every slot."""
    v = 0
    for x in range(n):
        of = work.level[work.by_rank[x]]
        v += int(of > level) + int(of >= level)
        work.v_of_slot[work.by_rank[x]] = v


@inlined
def _terms_of_row(i, at, passed, work):
    """Write V of all levels at the rank of slot i; `passed` counts each level's above rank `at`, which moves on."""
    slot = -1
    while slot != i:
        slot = work.by_rank[at]
        passed[work.level[slot]] += 1
        at += 1
    of_row, worse = work.v_of_level, 0
    for level in range(passed.size - 1, -1, -1):
        of_row[level] = 2 * worse + passed[level]
        worse += passed[level]
    return at


def _by_terms(swap, formula, reach, n_parts, work):
    """The same a row at a time where each two levels have a d of their own: V of the one less V of the other."""
    slots, start, own, n_levels = work.slots, work.start[0], work.own_v, reach.size
    passed = work.following[1, :n_levels]
    for level in range(n_levels):
        work.level[start[level] : start[level + 1]] = level
    for level in range(n_levels - 1, -1, -1):
        first, last, at = start[level], start[level + 1], 0
        _terms_of_level(level, start[n_levels], work)
        for i in range(first, last):
            own[i] = work.v_of_slot[i]
        passed[:] = 0
        lo, hi = last, start[reach[level]]
        for i in range(first, last if lo < hi else first):
            at = _terms_of_row(i, at, passed, work)
            slots[D, i] = work.v_of_slot[i]
            for j in range(lo, hi):
                slots[D, j] = work.v_of_slot[j] - own[j] + work.v_of_level[work.level[j]]
            _add_tile(formula, work, (i, i + 1), (lo, hi))
        carry_to_float64(slots, work.sums, start[n_levels])


_sum_tiles = by_type(lambda swap: _by_terms if getattr(swap, "by_levels", False) else _by_runs)


@kernel
def sum_by_tiles(first, last, lists, formula, work, out):
    """λ and μ of queries first:last, where they are wanted, one after the other in the same memory."""
    levels, weights = lists.levels, lists.weights
    for q in range(first, last):
        if lists.wanted[q]:
            a, b = levels.offsets[q], levels.offsets[q + 1]
            lam, mu = out[0, a:b], out[1, a:b]
            for i in range(b - a):
                lam[i] = mu[i] = 0
            reach = levels.reach[levels.first[q] : levels.first[q + 1]]
            if reach.size < 2:
                continue
            ranked = Ranked(a, lists.by_rank[a:b], weights.gains[a:b], weights.discounts, weights.cutoff)
            cutoff = rank_terms(formula.swap, ranked, work.d_of_rank[: b - a], work.h_of_rank[: b - a])
            _place_levels(q, cutoff, lists, b - a, work)
            _fill_slots(q, cutoff, lists, formula, work)
            _fill_levels(q, formula.sigmoid, lists, work)
            _sum_tiles(formula.swap, formula, reach, 2 if cutoff < b - a else 1, work)
            document, of_slot = work.document, work.sums
            for part in range(2):
                for slot in range(work.start[part, 0], work.start[part, reach.size]):
                    i = document[slot]
                    lam[i], mu[i] = of_slot[0, slot], curvature(formula.gradient, of_slot[1, slot])


def gradient_by_tiles(lists: Lists, loss: Loss, out: Any, dtype: Any = np.float32) -> None:
    """Write λ and μ of the queries that are wanted."""
    formula = PairFormula(lists.weights.swap, lists.weights.factors, *loss)

    def block(first: int, last: int, _: Any) -> None:
        sum_by_tiles(first, last, lists, formula, allocate(lists.levels, first, last, dtype), out)

    over_queries(block, lists.levels.offsets)


def gradient_by_plain_loop(lists: Lists, loss: Loss, out: Any) -> None:
    """The same in float64, for scores that are too far apart for float32."""
    gradient_by_tiles(lists, loss._replace(sigmoid=ByDifference(*loss.sigmoid[:2])), out, np.float64)
