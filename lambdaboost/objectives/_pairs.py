"""The λ and μ of all queries by pairs: from documents to tiles and back.

The documents of a query stand level by level (`_levels`), in a level by rank, so that the partners of a document are
one contiguous run and the rows of one level share it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives._exp import exp_minus
from lambdaboost.objectives._levels import Levels
from lambdaboost.objectives._order import BUCKETS, order_by_score
from lambdaboost.objectives._swap_pairs import RightPairs, by_rank_and_level, no_better, no_better_at_rows
from lambdaboost.objectives._tiles import (
    BLOCK,
    CHUNK,
    LANES,
    NOTHING,
    ONE,
    RANGE,
    ROWS,
    Dcg,
    Unit,
    curvature_of,
    force_of,
    gap,
    rows_by_columns,
    run_stop,
    step,
)
from lambdaboost.objectives._tree import lists_by_tree, worth_a_tree


def has_h(swap: Any) -> bool:
    """Whether a swap reads the figure h; known to the compiler."""
    return bool(type(swap).has_h())


@overload(has_h, inline="always")
def _has_h(swap):  # type: ignore[no-untyped-def]
    return (lambda swap: True) if swap.instance_class.has_h() else (lambda swap: False)


def layout(swap: Any, e: Any, g: Any, d: Any, h: Any) -> Any:
    """The figures of documents that the tiles read, without h where the swap has none."""
    return (e, g, d, h) if type(swap).has_h() else (e, g, d)


@overload(layout, inline="always")
def _layout(swap, e, g, d, h):  # type: ignore[no-untyped-def]
    if swap.instance_class.has_h():
        return lambda swap, e, g, d, h: (e, g, d, h)
    return lambda swap, e, g, d, h: (e, g, d)


@inlined
def _above_cutoff(swap, force, start, end, run_end, top_end, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
    """Pairs whose better document stands above the cutoff; without a cutoff all pairs."""
    for level in range(start.size):
        lo, hi = end[level], run_end[level]
        if lo < hi and start[level] < top_end[level]:
            stop = run_stop(lo, hi, end[-1])
            rows_by_columns(
                swap,
                force,
                np.int64(start[level]),
                np.int64(top_end[level]),
                rows,
                np.int64(lo),
                np.int64(stop),
                columns,
                sums,
                sums,
                parts,
            )


@inlined
def _below_cutoff(swap, force, start, end, run_end, top_end, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
    """Pairs whose worse document alone stands above the cutoff; two documents below it have nothing to swap for."""
    e, g, d, h = columns[0], columns[1], columns[2], columns[-1]
    lam, mu = sums
    n_levels = start.size
    first = np.zeros(n_levels + 1, np.int64)  # of each level among the documents above the cutoff
    for level in range(n_levels):
        first[level + 1] = first[level] + top_end[level] - start[level]
    room = first[n_levels] + LANES
    top_e, top_g = np.zeros(room, np.float32), np.zeros(room, np.float32)
    top_d = np.zeros(room, np.float32)
    top_h = np.zeros(room, np.float32) if has_h(swap) else top_d
    top_lam, top_mu = np.zeros(room, np.float64), np.zeros(room, np.float64)
    for level in range(n_levels):
        on = start[level] - first[level]
        for slot in range(first[level], first[level + 1]):
            top_e[slot], top_g[slot], top_d[slot] = e[slot + on], g[slot + on], d[slot + on]
            if has_h(swap):
                top_h[slot] = h[slot + on]
    for level in range(n_levels):
        lo, hi = first[level + 1], first[np.searchsorted(start, run_end[level])]
        if lo < hi and top_end[level] < end[level]:
            stop = run_stop(lo, hi, first[n_levels])
            rows_by_columns(
                swap, force, np.int64(top_end[level]), np.int64(end[level]), rows, lo, stop,
                layout(swap, top_e, top_g, top_d, top_h), sums, (top_lam, top_mu), parts,
            )  # fmt: skip
    for level in range(n_levels):
        on = start[level] - first[level]
        for slot in range(first[level], first[level + 1]):
            lam[slot + on] += top_lam[slot]
            mu[slot + on] += top_mu[slot]


@inlined
def _wide_pairs(swap, force, first, last, lo, hi, sigma, center, s, columns, sums):  # type: ignore[no-untyped-def]
    """Rows first:last against columns lo:hi of scores too far apart for E: an exponential a pair, all in float64."""
    g, d, h = columns[1], columns[2], columns[-1]
    lam, mu = sums
    for i in range(first, last):
        for j in range(lo, hi):
            apart = sigma * (s[i] - s[j]) + center
            if apart > NOTHING:
                continue
            rho = rest = 1.0
            if apart < -NOTHING:
                rest = 0.0
            else:
                rho, rest = 1.0 / (1.0 + math.exp(apart)), 1.0 / (1.0 + math.exp(-apart))
            w = np.float64(gap(swap, g[i], g[j])) * np.float64(step(swap, d[i], h[i], d[j], h[j]))
            f = force_of(force, w * rho, rho, rest)
            c = curvature_of(force, w * rho, rho, rest)
            lam[i] += f
            lam[j] -= f
            mu[i] += c
            mu[j] += c


@inlined
def _level_by_level(swap, force, wide, cut, sigma, center, levels, s, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
    """All pairs of a query: each level against all that are worse."""
    start, end, run_end, top_end = levels
    if wide:
        for level in range(start.size):
            lo, hi = end[level], run_end[level]
            _wide_pairs(swap, force, start[level], lo, lo, hi, sigma, center, s, columns, sums)
    else:
        _above_cutoff(swap, force, start, end, run_end, top_end, rows, columns, sums, parts)
        if cut:
            _below_cutoff(swap, force, start, end, run_end, top_end, rows, columns, sums, parts)


@inlined
def _meet(swap, force, scale, first, last, lo, hi, m, s, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
    """Rows first:last against columns lo:hi of a layout of m."""
    wide, sigma, center = scale
    if wide:
        _wide_pairs(swap, force, first, last, lo, hi, sigma, center, s, columns, sums)
    else:
        rows_by_columns(swap, force, first, last, rows, lo, run_stop(lo, hi, m), columns, sums, sums, parts)


@inlined
def _two_by_two(swap, force, wide, cut, sigma, center, levels, s, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
    """All pairs of a query where any two levels have discounts of their own, made anew for each meeting."""
    start, end, _, _ = levels
    d, ranks = columns[2], columns[3]
    m = end[-1]
    by_rank, level = by_rank_and_level(start, end, ranks)
    own, now = np.empty(m, np.float32), np.empty(m, np.float32)
    passed = np.empty(start.size, np.int64)
    largest = (end - start).max()
    of_rows = np.empty((start.size, min(BLOCK, largest) if largest >= ROWS else 1), np.float32)
    scale = wide, sigma, center
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
                _meet(swap, force, scale, i, i + 1, end[a], m, m, s, rows, columns, sums, parts)
            continue
        d[end[a] : m] = now[end[a] : m] - own[end[a] : m]
        for i in range(start[a], end[a], BLOCK):
            last = min(i + BLOCK, end[a])
            at = no_better_at_rows(i, last, a, at, by_rank, level, passed, of_rows)
            for b in range(a + 1, start.size):
                d[i:last] = now[i:last] - of_rows[b, : last - i]
                _meet(swap, force, scale, i, last, start[b], end[b], m, s, rows, columns, sums, parts)


def _all_pairs(
    swap: Any, force: Any, wide: Any, cut: Any, sigma: Any, center: Any,
    levels: Any, s: Any, rows: Any, columns: Any, sums: Any, parts: Any,
) -> None:  # fmt: skip
    visit = _two_by_two if isinstance(swap, RightPairs) else _level_by_level
    visit(swap, force, wide, cut, sigma, center, levels, s, rows, columns, sums, parts)


@overload(_all_pairs, inline="always")
def _all_pairs_of(swap, force, wide, cut, sigma, center, levels, s, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
    visit = _two_by_two if swap.instance_class is RightPairs else _level_by_level

    def all_pairs(swap, force, wide, cut, sigma, center, levels, s, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
        visit(swap, force, wide, cut, sigma, center, levels, s, rows, columns, sums, parts)

    return all_pairs


def figures(
    swap: Any, first: Any, gains: Any, by_rank: Any, discounts: Any, cutoff: Any, d_room: Any, h_room: Any
) -> Any:
    """What the ranking of a query, whose documents start at `first`, contributes to its swaps.

    d and h of each rank, and the rank past which two documents have nothing to swap for.
    """
    return type(swap).figures(swap, first, gains, by_rank, discounts, cutoff, d_room, h_room)


@overload(figures)
def _figures(swap, first, gains, by_rank, discounts, cutoff, d_room, h_room):  # type: ignore[no-untyped-def]
    return swap.instance_class.figures


@inlined
def _lay_out(ranked, gains, level_of, by_rank, of_rank, cutoff, next_slot, top_end, document, s, columns):  # type: ignore[no-untyped-def]
    """Put the documents of a query level by level, inside a level by rank; returns how many stand in a level."""
    g, d, h = columns[1], columns[2], columns[-1]
    d_of_rank, h_of_rank = of_rank
    m = 0
    for rank in range(by_rank.size):
        i = by_rank[rank]
        level = level_of[i]
        if level >= 0:
            slot = next_slot[level]
            next_slot[level] = slot + 1
            if rank < cutoff:
                top_end[level] = slot + 1
            document[slot], s[slot], g[slot] = i, ranked[rank], gains[i]
            h[slot], d[slot] = h_of_rank[rank], d_of_rank[rank]
            m += 1
    return m


@kernel
def _block_of_queries(  # type: ignore[no-untyped-def]
    q0, q1, offsets, swap, force, sigma, center, cutoff,
    scores, gains, discounts, levels, by_tree, order, out_lam, out_mu,
):  # fmt: skip
    """λ and μ of queries q0:q1, one query after the other through the same scratch memory."""
    level_of, level_first, level_start, level_end, level_run_end = levels
    longest = most_levels = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
        most_levels = max(most_levels, level_first[q + 1] - level_first[q])
    room = longest + 2 * LANES
    e, g = np.empty(room, np.float32), np.empty(room, np.float32)
    d = np.empty(room, np.float32)
    h = np.empty(room, np.float32) if has_h(swap) else d
    d_room, h_room = np.empty(longest, np.float32), np.empty(longest, np.float32)
    s, lam, mu = np.empty(room, np.float64), np.empty(room, np.float64), np.empty(room, np.float64)
    chunk = min(room, CHUNK)
    parts = np.empty(chunk, np.float32), np.empty(chunk, np.float32), np.empty(chunk, np.float32)
    document = np.empty(room, np.int32)
    ranked, bucket_of, buckets = np.empty(longest), np.empty(longest, np.int32), np.empty(BUCKETS * longest, np.int32)
    next_slots, top_ends = np.empty(most_levels, np.int32), np.empty(most_levels, np.int32)
    shift = np.float32(math.exp(center))

    for q in range(q0, q1):
        a, b = offsets[q], offsets[q + 1]
        by_rank = order[a:b]
        order_by_score(scores[a:b], by_rank, ranked[: b - a], bucket_of, buckets)
        la, lb = level_first[q], level_first[q + 1]
        if by_tree[q] or lb - la < 2:
            continue
        start, end, run_end = level_start[la:lb], level_end[la:lb], level_run_end[la:lb]
        next_slot, top_end = next_slots[: lb - la], top_ends[: lb - la]
        for level in range(lb - la):
            next_slot[level] = top_end[level] = start[level]
        d_of_rank, h_of_rank, cut = figures(
            swap, a, gains[a:b], by_rank, discounts, cutoff, d_room[: b - a], h_room[: b - a]
        )
        columns = layout(swap, e, g, d, h)
        m = _lay_out(
            ranked, gains[a:b], level_of[a:b], by_rank, (d_of_rank, h_of_rank), cut, next_slot, top_end, document,
            s, columns,
        )  # fmt: skip
        lam[: m + LANES] = 0
        mu[: m + LANES] = 0
        best, worst = ranked[0], ranked[b - a - 1]
        wide = sigma * (best - worst) + abs(center) > RANGE
        if not wide:
            for slot in range(m):
                e[slot] = exp_minus(sigma * (best - s[slot]))
            e[m : m + LANES] = 0
            g[m : m + LANES] = 0
            d[m : m + LANES] = 0
            h[m : m + LANES] = 0
        rows = layout(swap, e * shift if shift != ONE else e, g, d, h)
        _all_pairs(
            swap, force, wide, cut < b - a, sigma, center, (start, end, run_end, top_end), s, rows, columns,
            (lam, mu), parts,
        )  # fmt: skip
        for slot in range(m):
            out_lam[a + document[slot]] = lam[slot]
            out_mu[a + document[slot]] = mu[slot]


def pair_gradient(
    scores: NDArray[np.float64],
    q: Queries,
    levels: Levels,
    swap: Any,
    force: Any,
    gains: NDArray[np.float32],
    discounts: NDArray[np.float32],
    cutoff: int,
    sigma: float = 1.0,
    center: float = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """λ and μ of every document, for σ = 1 in the factors σ and σ², as float64 (n_documents,)."""
    lam = np.zeros(q.n_documents)
    mu = np.zeros(q.n_documents)
    order = np.empty(q.n_documents, dtype=np.int32)
    by_tree = (
        worth_a_tree(q, levels, cutoff)
        if isinstance(swap, Unit | Dcg)  # the tree knows discounts
        else np.zeros(q.n_queries, dtype=bool)
    )
    over_queries(
        _block_of_queries, q.offsets, swap, force, sigma, center, cutoff,
        scores, gains, discounts, levels, by_tree, order, lam, mu,
    )  # fmt: skip
    if by_tree.any():
        queries = np.flatnonzero(by_tree)
        over_queries(
            lists_by_tree, np.append(0, np.cumsum(q.sizes[queries])), queries, q.offsets, swap, force,
            isinstance(swap, Dcg), sigma, center,
            scores, gains, discounts, levels.of_document, order, lam, mu,
        )  # fmt: skip
    return lam, mu
