"""The λ and μ of all queries by pairs: the project's hot loops, and nothing else.

A rule is two small values, NamedTuples so that the compiler knows each by its type: a *swap*, what exchanging two
documents is worth, and a *force*, how hard a pair is pushed at its score difference. The loops never branch on labels:
the documents of a query stand level by level (`_levels`), in a level by rank, so that the partners of a document are
one contiguous run, and rows of one level share it.

Padding makes most loops a whole number of vectors: a column with E = 0 has ρ = 0 and adds nothing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives._levels import Levels
from lambdaboost.objectives._order import order_by_score

# With E_i = exp(σ(s_i − s_max)) a pair costs one division and no exponential; up to this range every E is a normal
# float32. Wider queries take an exponential for each pair.
RANGE = 80.0
ROWS = 4  # rows of a tile: enough to use a loaded column four times, few enough for 32 registers
LANES = 32  # columns are padded to a multiple of this
BLOCK = 64 * ROWS  # rows summed into a column in float32 before the sum is carried to float64
CHUNK = 2048  # columns summed into a row in float32 before the sum is carried to float64


class Unit(NamedTuple):
    """Every pair weighs 1 (RankNet)."""


class Dcg(NamedTuple):
    """A pair weighs |gain_i − gain_j| · |D_i − D_j|, with gains divided by the ideal DCG."""


class Logistic(NamedTuple):
    """Force ρ and curvature ρ(1 − ρ), ρ = 1/(1 + e^{σo}); σ and σ² are multiplied in at the end."""


class Local(NamedTuple):
    """Force ρ(1 − ρ) and curvature ρ(1 − ρ)(1 − 2ρ), ρ = 1/(1 + e^{o + center}) (2011, eqs. 14-15)."""


ONE = np.float32(1)


def gap(swap: Any, gain_i: Any, gain_j: Any) -> Any:
    """The factor of a pair's weight that all rows of one level share."""
    return ONE if isinstance(swap, Unit) else gain_i - gain_j


@overload(gap, inline="always")
def _gap(swap, gain_i, gain_j):  # type: ignore[no-untyped-def]
    if swap.instance_class is Unit:
        return lambda swap, gain_i, gain_j: ONE
    return lambda swap, gain_i, gain_j: gain_i - gain_j


def step(swap: Any, discount_i: Any, discount_j: Any) -> Any:
    """The factor of a pair's weight that its two ranks decide."""
    return ONE if isinstance(swap, Unit) else abs(discount_i - discount_j)


@overload(step, inline="always")
def _step(swap, discount_i, discount_j):  # type: ignore[no-untyped-def]
    if swap.instance_class is Unit:
        return lambda swap, discount_i, discount_j: ONE
    return lambda swap, discount_i, discount_j: abs(discount_i - discount_j)


def force_of(force: Any, w: Any, rho: Any, rest: Any) -> Any:
    """W times the force at ρ; rest is 1 − ρ, kept apart since it loses all its digits as ρ nears 1."""
    return w * rho if isinstance(force, Logistic) else w * rho * rest


@overload(force_of, inline="always")
def _force_of(force, w, rho, rest):  # type: ignore[no-untyped-def]
    if force.instance_class is Logistic:
        return lambda force, w, rho, rest: w * rho
    return lambda force, w, rho, rest: w * rho * rest


def curvature_of(force: Any, f: Any, rho: Any, rest: Any) -> Any:
    """The curvature that belongs to the force f at ρ."""
    return f * rest if isinstance(force, Logistic) else f * (rest - rho)


@overload(curvature_of, inline="always")
def _curvature_of(force, f, rho, rest):  # type: ignore[no-untyped-def]
    if force.instance_class is Logistic:
        return lambda force, f, rho, rest: f * rest
    return lambda force, f, rho, rest: f * (rest - rho)


@kernel
def _tile(swap, force, gain, re, rd, e, g, d, lam, mu):  # type: ignore[no-untyped-def]
    """Four rows of one level (E in re, discount in rd) against a run of columns.

    Adds to the columns' λ and μ in place and returns the rows' sums.
    """
    e0, e1, e2, e3 = re[0], re[1], re[2], re[3]
    d0, d1, d2, d3 = rd[0], rd[1], rd[2], rd[3]
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0)
    for j in range(e.size):
        ej, dj = e[j], d[j]
        up = gap(swap, gain, g[j])
        v0, v1, v2, v3 = ONE / (e0 + ej), ONE / (e1 + ej), ONE / (e2 + ej), ONE / (e3 + ej)
        r0, r1, r2, r3 = ej * v0, ej * v1, ej * v2, ej * v3
        o0, o1, o2, o3 = e0 * v0, e1 * v1, e2 * v2, e3 * v3
        f0 = force_of(force, step(swap, d0, dj), r0, o0)
        f1 = force_of(force, step(swap, d1, dj), r1, o1)
        f2 = force_of(force, step(swap, d2, dj), r2, o2)
        f3 = force_of(force, step(swap, d3, dj), r3, o3)
        c0, c1 = curvature_of(force, f0, r0, o0), curvature_of(force, f1, r1, o1)
        c2, c3 = curvature_of(force, f2, r2, o2), curvature_of(force, f3, r3, o3)
        a0 += up * f0
        a1 += up * f1
        a2 += up * f2
        a3 += up * f3
        b0 += up * c0
        b1 += up * c1
        b2 += up * c2
        b3 += up * c3
        lam[j] += up * ((f0 + f1) + (f2 + f3))
        mu[j] += up * ((c0 + c1) + (c2 + c3))
    return a0, a1, a2, a3, b0, b1, b2, b3


@kernel
def _row(swap, force, gain, re, rd, e, g, d, lam, mu):  # type: ignore[no-untyped-def]
    """One row against a run of columns, for what is left of a level after its tiles."""
    a = b = np.float32(0)
    for j in range(e.size):
        inverse = ONE / (re + e[j])
        rho, rest = e[j] * inverse, re * inverse
        up = gap(swap, gain, g[j])
        f = force_of(force, step(swap, rd, d[j]), rho, rest)
        c = curvature_of(force, f, rho, rest)
        a += up * f
        b += up * c
        lam[j] += up * f
        mu[j] += up * c
    return a, b


@kernel
def _rows_by_columns(swap, force, first, last, hi, rows, lo, columns, lam, mu):  # type: ignore[no-untyped-def]
    """Rows first:last of one level, each above all columns lo:hi; adds to row `rows.lam` and `columns.lam` sums.

    `rows` and `columns` are (E, gain, discount) layouts; lam and mu are (row sums, column sums, column scratch).
    """
    re, rg, rd = rows
    ce, cg, cd = columns
    row_lam, col_lam, part_lam = lam
    row_mu, col_mu, part_mu = mu
    gain = rg[first]
    for block in range(first, last, BLOCK):
        block_end = min(block + BLOCK, last)
        for c in range(lo, hi, CHUNK):
            c_end = min(c + CHUNK, hi)
            e, g, d = ce[c:c_end], cg[c:c_end], cd[c:c_end]
            pl, pm = part_lam[: c_end - c], part_mu[: c_end - c]
            pl[:] = 0
            pm[:] = 0
            i = block
            while i + ROWS <= block_end:
                a0, a1, a2, a3, b0, b1, b2, b3 = _tile(swap, force, gain, re[i:], rd[i:], e, g, d, pl, pm)
                row_lam[i] += a0
                row_lam[i + 1] += a1
                row_lam[i + 2] += a2
                row_lam[i + 3] += a3
                row_mu[i] += b0
                row_mu[i + 1] += b1
                row_mu[i + 2] += b2
                row_mu[i + 3] += b3
                i += ROWS
            while i < block_end:
                a0, b0 = _row(swap, force, gain, re[i], rd[i], e, g, d, pl, pm)
                row_lam[i] += a0
                row_mu[i] += b0
                i += 1
            for j in range(c_end - c):
                col_lam[c + j] -= pl[j]
                col_mu[c + j] += pm[j]


@kernel
def _wide_rows(swap, force, first, last, lo, hi, sigma, center, s, g, d, row_lam, row_mu):  # type: ignore[no-untyped-def]
    """Like `_rows_by_columns` for scores too far apart for E: one exponential a pair, all in float64."""
    for i in range(first, last):
        for j in range(lo, hi):
            apart = sigma * (s[i] - s[j]) + center
            rho = 1.0 / (1.0 + math.exp(min(apart, 700.0)))
            rest = 1.0 / (1.0 + math.exp(min(-apart, 700.0)))
            w = np.float64(gap(swap, g[i], g[j])) * np.float64(step(swap, d[i], d[j]))
            f = force_of(force, w, rho, rest)
            c = curvature_of(force, f, rho, rest)
            row_lam[i] += f
            row_lam[j] -= f
            row_mu[i] += c
            row_mu[j] += c


@kernel
def _pad(n):  # type: ignore[no-untyped-def]
    return (n + LANES - 1) // LANES * LANES


@kernel
def _block_of_queries(  # type: ignore[no-untyped-def]
    q0,
    q1,
    offsets,
    swap,
    force,
    sigma,
    center,
    cutoff,
    scores,
    gains,
    discounts,
    levels,
    hint,
    order,
    out_lam,
    out_mu,
):
    """λ and μ of queries q0:q1. One query after the other through the same scratch memory."""
    of_document, level_first, level_start, level_end, level_run_end = levels
    longest = 0
    most_levels = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
        most_levels = max(most_levels, level_first[q + 1] - level_first[q])
    room = _pad(longest) + LANES
    e, g, d = np.empty(room, np.float32), np.empty(room, np.float32), np.empty(room, np.float32)
    s = np.empty(room, np.float64)
    row_lam, row_mu = np.empty(room, np.float64), np.empty(room, np.float64)
    top_e, top_g, top_d = np.empty(room, np.float32), np.empty(room, np.float32), np.empty(room, np.float32)
    top_lam, top_mu = np.empty(room, np.float64), np.empty(room, np.float64)
    part_lam, part_mu = np.empty(min(room, CHUNK), np.float32), np.empty(min(room, CHUNK), np.float32)
    document = np.empty(room, np.int32)
    next_slot = np.empty(most_levels, np.int32)
    top_end = np.empty(most_levels, np.int32)

    for q in range(q0, q1):
        a, b = offsets[q], offsets[q + 1]
        n = b - a
        here = scores[a:b]
        by_rank = order[a:b]
        order_by_score(here, hint[a:b], by_rank)
        n_levels = level_first[q + 1] - level_first[q]
        start = level_start[level_first[q] : level_first[q + 1]]
        end = level_end[level_first[q] : level_first[q + 1]]
        run_end = level_run_end[level_first[q] : level_first[q + 1]]
        if n_levels < 2:
            continue
        m = end[n_levels - 1]
        best, worst = here[by_rank[0]], here[by_rank[n - 1]]
        wide = sigma * (best - worst) + abs(center) > RANGE

        # The layout: level by level, inside a level by rank.
        next_slot[:n_levels] = start
        top_end[:n_levels] = start
        shift = np.float32(math.exp(center))
        for rank in range(n):
            i = by_rank[rank]
            level = of_document[a + i]
            if level < 0:
                continue
            slot = next_slot[level]
            next_slot[level] = slot + 1
            if rank < cutoff:
                top_end[level] = slot + 1
            document[slot] = i
            g[slot] = gains[a + i]
            d[slot] = discounts[rank]
            s[slot] = here[i]
        row_lam[: m + LANES] = 0
        row_mu[: m + LANES] = 0
        if wide:
            for level in range(n_levels):
                _wide_rows(
                    swap, force, start[level], end[level], end[level], run_end[level],
                    sigma, center, s, g, d, row_lam, row_mu,
                )  # fmt: skip
        else:
            for slot in range(m):
                e[slot] = math.exp(sigma * (s[slot] - best))
            for slot in range(m, m + LANES):
                e[slot] = g[slot] = d[slot] = 0
            n_top = 0
            for level in range(n_levels):
                for slot in range(start[level], top_end[level]):
                    top_e[n_top], top_g[n_top], top_d[n_top] = e[slot], g[slot], d[slot]
                    n_top += 1
            for slot in range(n_top, n_top + LANES):
                top_e[slot] = top_g[slot] = top_d[slot] = 0
            top_lam[: n_top + LANES] = 0
            top_mu[: n_top + LANES] = 0
            _pairs_of_query(
                swap, force, shift, start, end, run_end, top_end, n_top,
                (e, g, d), (top_e, top_g, top_d),
                row_lam, row_mu, top_lam, top_mu, part_lam, part_mu,
            )  # fmt: skip
            n_top = 0
            for level in range(n_levels):
                for slot in range(start[level], top_end[level]):
                    row_lam[slot] += top_lam[n_top]
                    row_mu[slot] += top_mu[n_top]
                    n_top += 1
        for slot in range(m):
            out_lam[a + document[slot]] = row_lam[slot]
            out_mu[a + document[slot]] = row_mu[slot]


@kernel
def _pairs_of_query(  # type: ignore[no-untyped-def]
    swap,
    force,
    shift,
    start,
    end,
    run_end,
    top_end,
    n_top,
    all_,
    top,
    row_lam,
    row_mu,
    top_lam,
    top_mu,
    part_lam,
    part_mu,
):
    """Every pair with a document above the cutoff, once.

    Rows above the cutoff meet all their columns, rows below it only the columns above it: swapping two documents below
    the cutoff changes nothing.
    """
    m = end[-1]
    e, g, d = all_
    shifted = e
    if shift != ONE:
        shifted = e * shift
    top_first = np.zeros(start.size + 1, np.int64)
    for level in range(start.size):
        top_first[level + 1] = top_first[level] + top_end[level] - start[level]
    for level in range(start.size):
        lo, hi = end[level], run_end[level]
        if lo < hi:
            if start[level] < top_end[level]:
                stop = lo + _pad(hi - lo) if hi == m else hi
                _rows_by_columns(
                    swap, force, start[level], top_end[level], stop, (shifted, g, d), lo, all_,
                    (row_lam, row_lam, part_lam), (row_mu, row_mu, part_mu),
                )  # fmt: skip
            if top_end[level] < end[level]:
                top_lo = top_first[level + 1]
                top_hi = top_first[np.searchsorted(start, hi)]
                stop = top_lo + _pad(top_hi - top_lo) if top_hi == n_top else top_hi
                if top_lo < top_hi:
                    _rows_by_columns(
                        swap, force, top_end[level], end[level], stop, (shifted, g, d), top_lo, top,
                        (row_lam, top_lam, part_lam), (row_mu, top_mu, part_mu),
                    )  # fmt: skip


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
    last = q.memo("order", lambda: [np.zeros(0, dtype=np.int32)])
    hint = last[0] if last[0].size else _identity(q)
    order = np.empty(q.n_documents, dtype=np.int32)
    over_queries(
        _block_of_queries, q.offsets, swap, force, sigma, center, cutoff,
        scores, gains, discounts, levels, hint, order, lam, mu,
    )  # fmt: skip
    last[0] = order  # whole arrays change hands, so that another thread's training never sees half an order
    return lam, mu


def _identity(q: Queries) -> NDArray[np.int32]:
    return (np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)).astype(np.int32)
