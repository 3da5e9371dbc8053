"""Tiles: rows of one level against a run of columns, the project's innermost loops.

A rule is two small values, NamedTuples so that the compiler knows each by its type: a *swap*, what exchanging two
documents is worth, and a *force*, how hard a pair is pushed at its score difference. With E_i = exp(σ(s_i − s_max)) a
pair costs one division, ρ = E_j/(E_i + E_j), and no exponential. The loops never branch on labels.

A swap has functions that are compiled into the loops: `gap` and `step`, whose product weighs a pair, and
`figures`, what the ranking of a query contributes: d and h of each rank, and the rank past which two documents have
nothing to swap for. None of them branches: `min`, `max` and `abs` fill vector lanes, conditions do not. `Unit` and
`Dcg` stand here, the swaps of other measures in files of their own (`_swap_map` and its neighbours).

Padding makes most loops a whole number of vectors: a column with E = 0 has ρ = 0 and adds nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from lambdaboost._jit import borrowing, inlined, inlined_exact
from lambdaboost.objectives.kernels.two_floats import difference

RANGE = 72.0  # σ-ranges up to this keep every E, and what a pair adds to a column, a normal float32
NOTHING = 104.0  # e^{−x} from here is 0 in float32
ROWS = 4  # rows of a tile: enough to use a loaded column four times, few enough for 32 registers
LANES = 32  # columns are padded to a multiple of this
BLOCK = 64 * ROWS  # rows summed into a column in float32 before the sum is carried to float64
CHUNK = 2048  # columns that a tile runs over: they and their sums stay in the nearest cache
LONGEST = 256  # documents of a list up to which discounts in float32 weigh every pair within 1e-5
ONE = np.float32(1)


class Unit(NamedTuple):
    """Every pair weighs 1 (RankNet)."""

    @staticmethod
    def has_h() -> bool:
        """Whether `step` reads h."""
        return False

    @staticmethod
    def gap(swap, gain_i, rest_i, gain_j, rest_j):  # type: ignore[no-untyped-def]
        """One."""
        return ONE

    @staticmethod
    def step(swap, d_i, h_i, d_j, h_j):  # type: ignore[no-untyped-def]
        """One."""
        return ONE

    @staticmethod
    def figures(swap, first, gains, by_rank, discounts, cutoff, d_room, h_room):  # type: ignore[no-untyped-def]
        """D of each rank, whichever document stands there; no h."""
        return discounts[0], discounts[0], cutoff


class Dcg(NamedTuple):
    """A pair weighs |gain_i − gain_j| · |D_i − D_j|, the gains normalised: NDCG, CNDCG, WTA and Precision."""

    @staticmethod
    def has_h() -> bool:
        """Whether `step` reads h."""
        return False

    @staticmethod
    def gap(swap, gain_i, rest_i, gain_j, rest_j):  # type: ignore[no-untyped-def]
        """The gain of the better document less that of the other."""
        return gain_i - gain_j

    @staticmethod
    def step(swap, d_i, h_i, d_j, h_j):  # type: ignore[no-untyped-def]
        """The difference of the discounts."""
        return abs(d_i - d_j)

    @staticmethod
    def figures(swap, first, gains, by_rank, discounts, cutoff, d_room, h_room):  # type: ignore[no-untyped-def]
        """D of each rank, whichever document stands there; no h."""
        return discounts[0], discounts[0], cutoff


class TwoFloatDcg(NamedTuple):
    """`Dcg` of discounts or gains so close to each other that a float32 each would not hold their difference."""

    @staticmethod
    def has_h() -> bool:
        """Whether `step` reads h."""
        return True

    @staticmethod
    def gap(swap, gain_i, rest_i, gain_j, rest_j):  # type: ignore[no-untyped-def]
        """The gain of the better document less that of the other."""
        return difference(gain_i, rest_i, gain_j, rest_j)

    @staticmethod
    def step(swap, d_i, h_i, d_j, h_j):  # type: ignore[no-untyped-def]
        """The difference of the discounts."""
        return abs(difference(d_i, h_i, d_j, h_j))

    @staticmethod
    def figures(swap, first, gains, by_rank, discounts, cutoff, d_room, h_room):  # type: ignore[no-untyped-def]
        """D of each rank, whichever document stands there, its rest as h."""
        return discounts[0], discounts[1], cutoff


class Logistic(NamedTuple):
    """Force ρ and curvature ρ(1 − ρ), ρ = 1/(1 + e^{σo}); σ and σ² are multiplied in at the end."""


class Local(NamedTuple):
    """Force ρ(1 − ρ) and curvature ρ(1 − ρ)(1 − 2ρ), ρ = 1/(1 + e^{o + center}) (2011, eqs. 14-15)."""


class Mixed(NamedTuple):
    """Both forces of one pair in one pass: so much of `Logistic`, so much of `Local`."""

    logistic: np.float32
    local: np.float32


def gap(swap: Any, gain_i: Any, rest_i: Any, gain_j: Any, rest_j: Any) -> Any:
    """The factor of a pair's weight that all rows of one level share; gains come as two floats."""
    return type(swap).gap(swap, gain_i, rest_i, gain_j, rest_j)


@overload(gap, inline="always")
def _gap(swap, gain_i, rest_i, gain_j, rest_j):  # type: ignore[no-untyped-def]
    return swap.instance_class.gap


def step(swap: Any, d_i: Any, h_i: Any, d_j: Any, h_j: Any) -> Any:
    """The factor of a pair's weight that its two ranks decide."""
    return type(swap).step(swap, d_i, h_i, d_j, h_j)


@overload(step, inline="always")
def _step(swap, d_i, h_i, d_j, h_j):  # type: ignore[no-untyped-def]
    return swap.instance_class.step


@inlined_exact
def _times(a, b):  # type: ignore[no-untyped-def]
    """A product as it is written: never through v², which is no float32 when scores lie far apart."""
    return a * b


def force_of(force: Any, wr: Any, rho: Any, rest: Any) -> Any:
    """The force of a pair whose w times ρ is `wr`; rest is 1 − ρ, kept apart since it loses its digits as ρ nears 1."""
    if isinstance(force, Logistic):
        return wr
    if isinstance(force, Local):
        return _times(wr, rest)
    return _times(wr, force.logistic + force.local * rest)


@overload(force_of, inline="always")
def _force_of(force, wr, rho, rest):  # type: ignore[no-untyped-def]
    if force.instance_class is Logistic:
        return lambda force, wr, rho, rest: wr
    if force.instance_class is Local:
        return lambda force, wr, rho, rest: _times(wr, rest)
    return lambda force, wr, rho, rest: _times(wr, force.logistic + force.local * rest)


def curvature_of(force: Any, wr: Any, rho: Any, rest: Any) -> Any:
    """The curvature of a pair whose w times ρ is `wr`."""
    if isinstance(force, Logistic):
        return _times(wr, rest)
    if isinstance(force, Local):
        return _times(_times(wr, rest), rest - rho)
    return _times(_times(wr, rest), force.logistic + force.local * (rest - rho))


@overload(curvature_of, inline="always")
def _curvature_of(force, wr, rho, rest):  # type: ignore[no-untyped-def]
    if force.instance_class is Logistic:
        return lambda force, wr, rho, rest: _times(wr, rest)
    if force.instance_class is Local:
        return lambda force, wr, rho, rest: _times(_times(wr, rest), rest - rho)
    return lambda force, wr, rho, rest: _times(_times(wr, rest), force.logistic + force.local * (rest - rho))


@borrowing
def _tile(swap, force, gain, rest, re, rd, rh, e, g, r, d, h, lam, mu):  # type: ignore[no-untyped-def]
    """Four rows of one level from row i (E in re, d in rd, h in rh) against a run of columns.

    What all pairs of a column share, u = E_j times the gap of the gains, is multiplied in once for each row's sum and
    once for the four together: ρ = E_j v, so a pair has one division and three products besides its sums. Adds to the
    columns' λ and μ in place and returns the rows'.
    """
    e0, e1, e2, e3 = re[0], re[1], re[2], re[3]
    d0, d1, d2, d3 = rd[0], rd[1], rd[2], rd[3]
    h0, h1, h2, h3 = rh[0], rh[1], rh[2], rh[3]
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0)
    for j in range(e.size):
        ej, dj, hj = e[j], d[j], h[j]
        u = ej * gap(swap, gain, rest, g[j], r[j])
        v0, v1, v2, v3 = ONE / (e0 + ej), ONE / (e1 + ej), ONE / (e2 + ej), ONE / (e3 + ej)
        w0, w1 = v0 * step(swap, d0, h0, dj, hj), v1 * step(swap, d1, h1, dj, hj)
        w2, w3 = v2 * step(swap, d2, h2, dj, hj), v3 * step(swap, d3, h3, dj, hj)
        r0, r1, r2, r3 = ej * v0, ej * v1, ej * v2, ej * v3
        o0, o1, o2, o3 = e0 * v0, e1 * v1, e2 * v2, e3 * v3
        f0, f1 = force_of(force, w0, r0, o0), force_of(force, w1, r1, o1)
        f2, f3 = force_of(force, w2, r2, o2), force_of(force, w3, r3, o3)
        c0, c1 = curvature_of(force, w0, r0, o0), curvature_of(force, w1, r1, o1)
        c2, c3 = curvature_of(force, w2, r2, o2), curvature_of(force, w3, r3, o3)
        a0 += u * f0
        a1 += u * f1
        a2 += u * f2
        a3 += u * f3
        b0 += u * c0
        b1 += u * c1
        b2 += u * c2
        b3 += u * c3
        lam[j] -= u * ((f0 + f1) + (f2 + f3))
        mu[j] += u * ((c0 + c1) + (c2 + c3))
    return a0, a1, a2, a3, b0, b1, b2, b3


@borrowing
def _row(swap, force, gain, rest, re, rd, rh, e, g, r, d, h, lam, mu):  # type: ignore[no-untyped-def]
    """One row against a run of columns, for what is left of a level after its tiles."""
    a = b = np.float32(0)
    for j in range(e.size):
        v = ONE / (re + e[j])
        u = e[j] * gap(swap, gain, rest, g[j], r[j])
        w = v * step(swap, rd, rh, d[j], h[j])
        rho, other = e[j] * v, re * v
        f, c = u * force_of(force, w, rho, other), u * curvature_of(force, w, rho, other)
        a += f
        b += c
        lam[j] -= f
        mu[j] += c
    return a, b


@borrowing
def rows_by_columns(swap, force, first, last, rows, lo, hi, columns, row_sums, column_sums):  # type: ignore[no-untyped-def]
    """Rows first:last of one level, each to be above all of the columns lo:hi.

    `rows` and `columns` are layouts (E, gain, its rest, d, h), or without h for swaps that have none; `row_sums` and
    `column_sums` their float32 (λ, μ) to add to, which the caller carries to float64 after every BLOCK rows.
    """
    re, rd, rh = rows[0], rows[3], rows[-1]
    ce, cg, cr, cd, ch = columns[0], columns[1], columns[2], columns[3], columns[-1]
    row_lam, row_mu = row_sums
    gain, rest = rows[1][first], rows[2][first]
    for c in range(lo, hi, CHUNK):
        c_end = min(c + CHUNK, hi)
        e, g, r, d, h = ce[c:c_end], cg[c:c_end], cr[c:c_end], cd[c:c_end], ch[c:c_end]
        lam, mu = column_sums[0][c:c_end], column_sums[1][c:c_end]
        i = first
        while i + ROWS <= last:
            a0, a1, a2, a3, b0, b1, b2, b3 = _tile(
                swap, force, gain, rest, re[i:], rd[i:], rh[i:], e, g, r, d, h, lam, mu
            )
            row_lam[i] += a0
            row_lam[i + 1] += a1
            row_lam[i + 2] += a2
            row_lam[i + 3] += a3
            row_mu[i] += b0
            row_mu[i + 1] += b1
            row_mu[i + 2] += b2
            row_mu[i + 3] += b3
            i += ROWS
        while i < last:
            a0, b0 = _row(swap, force, gain, rest, re[i], rd[i], rh[i], e, g, r, d, h, lam, mu)
            row_lam[i] += a0
            row_mu[i] += b0
            i += 1


@borrowing
def carry(sums, totals, first, last):  # type: ignore[no-untyped-def]
    """Move the float32 sums of first:last to their float64 totals."""
    for x in range(2):
        part, total = sums[x], totals[x]
        for slot in range(first, last):
            total[slot] += part[slot]
            part[slot] = 0


@inlined
def _pad(n):  # type: ignore[no-untyped-def]
    return (n + LANES - 1) // LANES * LANES


@inlined
def run_stop(lo, hi, m):  # type: ignore[no-untyped-def]
    """The end of a run lo:hi of columns, moved on to whole vectors where only padding follows."""
    return lo + _pad(hi - lo) if hi == m else hi
