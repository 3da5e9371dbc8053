"""The λ and μ of all queries by pairs: from documents to tiles and back.

The documents of a query stand level by level (`_levels`), in a level by rank, so that the partners of a document are
one contiguous run and the rows of one level share it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from lambdaboost._jit import borrowing, inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation._order import order_documents, room_to_order
from lambdaboost.objectives.kernels.exp import FARTHEST, exp_minus
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import Loss, curvature_of, force_of
from lambdaboost.objectives.kernels.pair_weight import (
    Dcg,
    PairWeights,
    TwoFloatDcg,
    Unit,
    gap,
    has_h,
    rank_terms,
    step,
)
from lambdaboost.objectives.kernels.short_lists import in_batches, lists_in_lanes
from lambdaboost.objectives.kernels.tiles import (
    BLOCK,
    LANES,
    RANGE,
    ROWS,
    carry,
    rows_by_columns,
    run_stop,
)
from lambdaboost.objectives.kernels.tree import lists_by_tree, worth_a_tree
from lambdaboost.objectives.swaps.pair_accuracy import (
    RightPairs,
    by_rank_and_level,
    no_better,
    no_better_at_rows,
)


def layout(swap: Any, e: Any, g: Any, rest: Any, d: Any, h: Any) -> Any:
    """The figures of documents that the tiles read, without h where the swap has none."""
    return (e, g, rest, d, h) if type(swap).has_h() else (e, g, rest, d)


@overload(layout, inline="always")
def _layout(swap, e, g, rest, d, h):  # type: ignore[no-untyped-def]
    if swap.instance_class.has_h():
        return lambda swap, e, g, rest, d, h: (e, g, rest, d, h)
    return lambda swap, e, g, rest, d, h: (e, g, rest, d)


Figures = NDArray[np.float32]


@borrowing
def _counted(more, since, sums, totals, width):  # type: ignore[no-untyped-def]
    """How many rows the totals have not seen once `more` are added; carries the sums before they grow too long."""
    if since + more > BLOCK:
        carry(sums, totals, 0, width)
        return more
    return since + more


@borrowing
def _in_blocks(  # type: ignore[no-untyped-def]
    swap, force, first, last, rows, lo, stop, columns, row_sums, column_sums, totals, width, since,
):  # fmt: skip
    """Rows first:last against columns lo:stop; `since` counts the rows that `totals` have not seen, and is returned."""
    for block in range(first, last, BLOCK):
        block_end = min(block + BLOCK, last)
        since = _counted(block_end - block, since, column_sums, totals, width)
        rows_by_columns(swap, force, block, block_end, rows, lo, stop, columns, row_sums, column_sums)
    return since


@borrowing
def _above_cutoff(swap, force, start, end, run_end, top_end, rows, columns, sums, totals):  # type: ignore[no-untyped-def]
    """Pairs whose better document stands above the cutoff; without a cutoff all pairs."""
    m = np.int64(end[-1])
    since = 0
    for level in range(start.size):
        lo, hi = np.int64(end[level]), np.int64(run_end[level])
        if lo < hi:
            since = _in_blocks(
                swap, force, np.int64(start[level]), np.int64(top_end[level]), rows, lo, run_stop(lo, hi, m),
                columns, sums, sums, totals, m, since,
            )  # fmt: skip


@borrowing
def _below_cutoff(swap, force, start, end, run_end, top_end, first, top, rows, columns, sums, totals):  # type: ignore[no-untyped-def]
    """Pairs whose worse document alone stands above the cutoff; two documents below it have nothing to swap for.

    The documents above it stand together in `top`, scratch of their figures, sums and totals; `first` says
    where each level starts there.
    """
    top_figures, top_sums, top_totals = top
    n_levels = start.size
    first[0] = 0
    for level in range(n_levels):
        first[level + 1] = first[level] + top_end[level] - start[level]
    m = np.int64(first[n_levels])
    for level in range(n_levels):
        on = start[level] - first[level]
        for slot in range(first[level], first[level + 1]):
            for x in range(len(columns)):
                top_figures[x][slot] = columns[x][slot + on]
    for slot in range(m, m + LANES):
        top_figures[0][slot] = 0
    for x in range(2):
        for slot in range(m + LANES):
            top_sums[x][slot] = top_totals[x][slot] = 0
    since = 0
    for level in range(n_levels):
        lo = np.int64(first[level + 1])
        hi = np.int64(first[np.searchsorted(start, run_end[level])])
        if lo < hi:
            since = _in_blocks(
                swap, force, np.int64(top_end[level]), np.int64(end[level]), rows, lo, run_stop(lo, hi, m),
                top_figures, sums, top_sums, top_totals, m, since,
            )  # fmt: skip
    for x in range(2):
        for level in range(n_levels):
            on = start[level] - first[level]
            for slot in range(first[level], first[level + 1]):
                totals[x][slot + on] += top_totals[x][slot] + top_sums[x][slot]


@borrowing
def _wide_pairs(swap, force, first, last, lo, hi, sigma, center, s, columns, totals):  # type: ignore[no-untyped-def]
    """Rows first:last against columns lo:hi of scores too far apart for E: an exponential a pair, all in float64."""
    g, r, d, h = columns[1], columns[2], columns[3], columns[-1]
    lam, mu = totals
    run_s, run_g, run_r, run_d, run_h = s[lo:hi], g[lo:hi], r[lo:hi], d[lo:hi], h[lo:hi]
    run_lam, run_mu = lam[lo:hi], mu[lo:hi]
    for i in range(first, last):
        a = b = 0.0
        s_i, g_i, r_i, d_i, h_i = s[i], g[i], r[i], d[i], h[i]
        for j in range(run_s.size):
            apart = sigma * (s_i - run_s[j]) + center
            near = exp_minus(min(abs(apart), FARTHEST))
            e = near if abs(apart) < FARTHEST else 0.0
            larger = 1 / (1 + e)
            rho, rest = (e * larger, larger) if apart > 0 else (larger, e * larger)
            w = np.float64(gap(swap, g_i, r_i, run_g[j], run_r[j]))
            w *= np.float64(step(swap, d_i, h_i, run_d[j], run_h[j]))
            f = force_of(force, w * rho, rho, rest)
            c = curvature_of(force, w * rho, rho, rest)
            a += f
            b += c
            run_lam[j] -= f
            run_mu[j] += c
        lam[i] += a
        mu[i] += b


@borrowing
def _wide_levels(swap, force, cut, sigma, center, levels, s, columns, totals):  # type: ignore[no-untyped-def]
    """All pairs of a query whose scores lie far apart, one of the two above the cutoff."""
    start, end, run_end, top_end, _ = levels
    for b in range(start.size):
        _wide_pairs(swap, force, start[b], top_end[b], end[b], run_end[b], sigma, center, s, columns, totals)
        lo, hi = start[b], top_end[b]
        a = b - 1 if cut and lo < hi else -1
        while a >= 0 and run_end[a] > lo:
            _wide_pairs(swap, force, top_end[a], end[a], lo, hi, sigma, center, s, columns, totals)
            a -= 1


@borrowing
def _level_by_level(swap, force, wide, cut, sigma, center, levels, top, s, rows, columns, sums, totals):  # type: ignore[no-untyped-def]
    """All pairs of a query: each level against all that are worse."""
    start, end, run_end, top_end, first = levels
    if wide:
        _wide_levels(swap, force, cut, sigma, center, levels, s, columns, totals)
    else:
        _above_cutoff(swap, force, start, end, run_end, top_end, rows, columns, sums, totals)
        if cut:
            _below_cutoff(swap, force, start, end, run_end, top_end, first, top, rows, columns, sums, totals)


@inlined
def _meet(swap, force, scale, first, last, lo, hi, m, s, rows, columns, sums, totals):  # type: ignore[no-untyped-def]
    """Rows first:last against columns lo:hi of a layout of m."""
    wide, sigma, center = scale
    if wide:
        _wide_pairs(swap, force, first, last, lo, hi, sigma, center, s, columns, totals)
    else:
        rows_by_columns(swap, force, first, last, rows, lo, run_stop(lo, hi, m), columns, sums, sums)


@inlined
def _two_by_two(swap, force, wide, cut, sigma, center, levels, top, s, rows, columns, sums, totals):  # type: ignore[no-untyped-def]
    """All pairs of a query where any two levels have discounts of their own, made anew for each meeting."""
    start, end, _, _, _ = levels
    d, ranks = columns[3], columns[4]
    m = end[-1]
    by_rank, level = by_rank_and_level(start, end, ranks)
    own, now = np.empty(m, np.float32), np.empty(m, np.float32)
    passed = np.empty(start.size, np.int64)
    largest = (end - start).max()
    of_rows = np.empty((start.size, min(BLOCK, largest) if largest >= ROWS else 1), np.float32)
    scale = wide, sigma, center
    since = 0
    for a in range(start.size - 1, -1, -1):
        no_better(a, by_rank, level, now)
        own[start[a] : end[a]] = now[start[a] : end[a]]
        if end[a] == m:
            continue
        passed[:] = 0
        at = 0
        if end[a] - start[a] < ROWS:
            # A few rows meet all columns one by one: a meeting for each level of columns would cost more.
            for i in range(start[a], end[a]):
                at = no_better_at_rows(i, i + 1, a, at, by_rank, level, passed, of_rows)
                d[i] = now[i]
                for b in range(a + 1, start.size):
                    for j in range(start[b], end[b]):
                        d[j] = (now[j] - own[j]) + of_rows[b, 0]
                since = _counted(1, since, sums, totals, m)
                _meet(swap, force, scale, i, i + 1, end[a], m, m, s, rows, columns, sums, totals)
            continue
        d[end[a] : m] = now[end[a] : m] - own[end[a] : m]
        for i in range(start[a], end[a], BLOCK):
            last = min(i + BLOCK, end[a])
            since = _counted(last - i, since, sums, totals, m)
            at = no_better_at_rows(i, last, a, at, by_rank, level, passed, of_rows)
            for b in range(a + 1, start.size):
                d[i:last] = now[i:last] - of_rows[b, : last - i]
                _meet(swap, force, scale, i, last, start[b], end[b], m, s, rows, columns, sums, totals)


def _all_pairs(
    swap: Any, force: Any, wide: Any, cut: Any, sigma: Any, center: Any,
    levels: Any, top: Any, s: Any, rows: Any, columns: Any, sums: Any, totals: Any,
) -> None:  # fmt: skip
    visit = _two_by_two if isinstance(swap, RightPairs) else _level_by_level
    visit(swap, force, wide, cut, sigma, center, levels, top, s, rows, columns, sums, totals)


@overload(_all_pairs, inline="always")
def _all_pairs_of(swap, force, wide, cut, sigma, center, levels, top, s, rows, columns, sums, totals):  # type: ignore[no-untyped-def]
    visit = _two_by_two if swap.instance_class is RightPairs else _level_by_level

    def all_pairs(swap, force, wide, cut, sigma, center, levels, top, s, rows, columns, sums, totals):  # type: ignore[no-untyped-def]
        visit(swap, force, wide, cut, sigma, center, levels, top, s, rows, columns, sums, totals)

    return all_pairs


def any_order(swap: Any) -> bool:
    """Whether a swap can do with the documents of a level in any order; known to the compiler."""
    return type(swap) is not RightPairs


@overload(any_order, inline="always")
def _any_order(swap):  # type: ignore[no-untyped-def]
    return (lambda swap: False) if swap.instance_class is RightPairs else (lambda swap: True)


@borrowing
def _places_by_rank(by_rank, level_of, cutoff, start, next_place, top_end, place):  # type: ignore[no-untyped-def]
    """Write the slot of each document to `place`, in its level by rank, and where each level meets the cutoff."""
    for level in range(start.size):
        next_place[level] = top_end[level] = start[level]
    for rank in range(by_rank.size):
        level = level_of[by_rank[rank]]
        place[by_rank[rank]] = -1
        if level >= 0:
            slot = next_place[level]
            place[by_rank[rank]] = slot
            next_place[level] = slot + 1
            if rank < cutoff:
                top_end[level] = slot + 1


@borrowing
def _lay_out(swap, ranked, gains, start, end, row, by_rank, of_rank, place, s, columns):  # type: ignore[no-untyped-def]
    """Bring what the pairs read of each document to its slot."""
    g, rest, d, h = columns[1], columns[2], columns[3], columns[-1]
    d_of_rank, h_of_rank = of_rank
    for level in range(start.size):
        g_here, rest_here = gains[0][row[level]], gains[1][row[level]]
        for slot in range(start[level], end[level]):
            g[slot], rest[slot] = g_here, rest_here
    for rank in range(by_rank.size):
        slot = place[by_rank[rank]]
        if slot >= 0:
            s[slot], d[slot] = ranked[rank], d_of_rank[rank]
            if has_h(swap):
                h[slot] = h_of_rank[rank]


class Scratch(NamedTuple):
    """Memory that the queries of a block use one after the other: by rank, by document, by level, by slot."""

    to_order: Any
    place: Any
    next_place: Any
    top_end: Any
    first_top: Any
    s: Any
    shifted: Any
    columns: Any
    sums: Any
    totals: Any
    top: Any
    d_of_rank: Any
    h_of_rank: Any


@inlined
def _scratch(swap, longest, most_levels):  # type: ignore[no-untyped-def]
    """Scratch for queries of up to so many documents and levels.

    The documents above a cutoff stand in the top once more. A swap says for each query where its cutoff is, so the top
    has space for a whole query, as all else: memory that is never written costs nothing. What padding reads is 0 at
    first, then left by another query: finite, and times E = 0.
    """
    room = longest + 2 * LANES
    d, top_d = np.zeros(room, np.float32), np.zeros(room, np.float32)
    h = np.zeros(room, np.float32) if has_h(swap) else d
    top_h = np.zeros(room, np.float32) if has_h(swap) else top_d
    return Scratch(
        room_to_order(longest),
        np.empty(longest, np.int32),
        np.empty(most_levels, np.int32),
        np.empty(most_levels, np.int32),
        np.empty(most_levels + 1, np.int32),
        np.empty(room),
        np.empty(room, np.float32),
        layout(
            swap, np.zeros(room, np.float32), np.zeros(room, np.float32), np.zeros(room, np.float32), d, h
        ),
        (np.empty(room, np.float32), np.empty(room, np.float32)),
        (np.empty(room), np.empty(room)),
        (
            layout(
                swap,
                np.zeros(room, np.float32),
                np.zeros(room, np.float32),
                np.zeros(room, np.float32),
                top_d,
                top_h,
            ),
            (np.empty(room, np.float32), np.empty(room, np.float32)),
            (np.empty(room), np.empty(room)),
        ),
        np.empty(longest, np.float32),
        np.empty(longest, np.float32),
    )


@borrowing
def _one_query(  # type: ignore[no-untyped-def]
    swap, force, sigma, center, a, b, levels, gains, by_rank, of_rank, cutoff, work, out_lam, out_mu,
):  # fmt: skip
    """λ and μ of the query whose documents are a:b, in order of score already."""
    level_of, slot_of, start, end, run_end, row = levels
    ranked, s, columns, sums, totals = work.to_order[0], work.s, work.columns, work.sums, work.totals
    place, top_end = slot_of[a:b], end
    if cutoff < b - a or not any_order(swap):
        place, top_end = work.place[: b - a], work.top_end[: start.size]
        _places_by_rank(by_rank, level_of[a:b], cutoff, start, work.next_place, top_end, place)
    _lay_out(swap, ranked, gains, start, end, row, by_rank, of_rank, place, s, columns)
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
    rows = layout(swap, shifted, columns[1], columns[2], columns[3], columns[-1])
    _all_pairs(
        swap, force, wide, cutoff < b - a, sigma, center, (start, end, run_end, top_end, work.first_top), work.top,
        s, rows, columns, sums, totals,
    )  # fmt: skip
    for i in range(b - a):
        slot = place[i]
        out_lam[a + i] = totals[0][slot] + sums[0][slot] if slot >= 0 else 0.0
        out_mu[a + i] = totals[1][slot] + sums[1][slot] if slot >= 0 else 0.0


@kernel
def _block_of_queries(q0, q1, offsets, weights, loss, scores, levels, elsewhere, order, ordered, out):  # type: ignore[no-untyped-def]
    """λ and μ of queries q0:q1, one after the other through the same scratch memory, of those not done `elsewhere`."""
    swap, gains, discounts, cutoff = weights
    force, sigma, center = loss
    in_lanes, by_tree = elsewhere
    out_lam, out_mu = out
    level_of, slot_of, level_first, level_start, level_end, level_run_end, level_row = levels
    longest = most_levels = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
        most_levels = max(most_levels, level_first[q + 1] - level_first[q])
    work = _scratch(swap, longest, most_levels)
    for q in range(q0, q1):
        if in_lanes[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        here, by_rank, ranked = scores[a:b], order[a:b], work.to_order[0][: b - a]
        if ordered:
            for r in range(b - a):
                ranked[r] = here[by_rank[r]]
        else:
            order_documents(here, by_rank, work.to_order)
        la, lb = level_first[q], level_first[q + 1]
        if by_tree[q]:
            continue
        if lb - la < 2:
            for i in range(a, b):
                out_lam[i] = out_mu[i] = 0
            continue
        d_of_rank, h_of_rank, cut = rank_terms(
            swap, a, gains[0][a:b], by_rank, discounts, cutoff, work.d_of_rank[: b - a], work.h_of_rank[: b - a]
        )
        _one_query(
            swap, force, sigma, center, a, b,
            (level_of, slot_of, level_start[la:lb], level_end[la:lb], level_run_end[la:lb], level_row[la:lb]),
            gains, by_rank, (d_of_rank, h_of_rank), cut, work, out_lam, out_mu,
        )  # fmt: skip


def pair_gradient(
    scores: NDArray[np.float64],
    q: Queries,
    levels: Levels,
    weights: PairWeights,
    loss: Loss,
    order: NDArray[np.int32] | None = None,
    drops_to_0: bool = True,
) -> tuple[Figures, Figures]:
    """λ and μ of every document, for σ = 1 in the factors σ and σ², as float32 (n_documents,).

    Pairs of two documents past the cutoff do not count. Say where discounts do not drop to 0 there. What another call
    over the same scores is to share as `order`, the documents of each query by score, is filled by the first: its
    first figure is -1 until then.
    """
    swap = weights.swap
    out = np.empty(q.n_documents, np.float32), np.empty(q.n_documents, np.float32)
    in_lanes, by_tree = np.zeros(q.n_queries, dtype=bool), np.zeros(q.n_queries, dtype=bool)
    ordered = order is not None and order[0] >= 0
    if drops_to_0 and not isinstance(swap, RightPairs):  # a lane knows neither a cutoff nor pairs of levels
        to_fill = np.empty(0, dtype=np.int32) if order is None or ordered else order
        lists_in_lanes(scores, q, in_batches(q, levels), weights, loss, (*out, to_fill, in_lanes))
        if in_lanes.all():
            return out
    if order is None:
        order = np.empty(q.n_documents, dtype=np.int32)
    if drops_to_0 and isinstance(swap, Unit | Dcg | TwoFloatDcg):  # the tree takes all pairs, by their discounts
        by_tree = worth_a_tree(q, levels, weights.cutoff)
    over_queries(
        _block_of_queries, q.offsets, weights, loss, scores, levels, (in_lanes, by_tree), order, ordered, out
    )
    if by_tree.any():
        queries = np.flatnonzero(by_tree)
        over_queries(
            lists_by_tree, np.append(0, np.cumsum(q.sizes[queries])), queries, q.offsets, swap, loss.force,
            not isinstance(swap, Unit), loss.sigma, loss.center,
            scores, weights.gains, weights.discounts, levels.of_document, order, *out,
        )  # fmt: skip
    return out
