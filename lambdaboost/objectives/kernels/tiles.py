"""Tiles: rows of one level against a run of columns, the project's innermost loops.

With E_i = exp(σ(s_i − s_max)) a pair costs one division, ρ = E_j/(E_i + E_j), and no exponential; `pair_weight` says
what it weighs, `pair_factors` what it is multiplied by, `loss` how hard it is pushed, `span` how E is kept. The loops
never branch on labels.

Padding makes most loops a whole number of vectors: a column with E = 0 has ρ = 0 and adds nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import inlined, uncounted
from lambdaboost.objectives.kernels.loss import curvature_of, force_of
from lambdaboost.objectives.kernels.pair_factors import is_factored, times
from lambdaboost.objectives.kernels.pair_weight import gap, has_h, step
from lambdaboost.objectives.kernels.span import bits, inverse, is_wide, lifted

ROWS = 4  # rows of a tile: enough to use a loaded column four times, few enough for 32 registers
LANES = 32  # columns are padded to a multiple of this
BLOCK = 64 * ROWS  # rows summed into a column in float32 before the sum is carried to float64
CHUNK = 2048  # columns that a tile runs over: they and their sums stay in the nearest cache


class Rule(NamedTuple):
    """What weighs a pair and how hard it is pushed, without what documents contribute."""

    swap: Any
    factors: Any
    force: Any
    span: Any
    sigma: float
    center: float


class Columns(NamedTuple):
    """What tiles read of each document, float32."""

    e: Any
    k: Any  # bits of a whole number; E itself where the span is `Narrow`, which reads none
    gain: Any
    rest: Any  # of the gain, the second of its two floats
    d: Any
    h: Any  # d itself where the swap has none
    up: Any  # both are d too where pairs have no factors
    down: Any


class Side(NamedTuple):
    """Documents as rows or as columns of tiles, with their λ and μ so far."""

    read: Columns
    sums: Any  # float32, for as long as they stay short; of lifted weights, as are the totals
    totals: Any  # float64, to which the sums are carried
    size: Any  # columns; what follows is padding


@inlined
def empty_columns(rule, n):
    """Memory for n documents, all 0."""
    e, d = np.zeros(n, np.float32), np.zeros(n, np.float32)
    k = np.zeros(n, np.float32) if is_wide(rule.span) else e
    h = np.zeros(n, np.float32) if has_h(rule.swap) else d
    up = np.zeros(n, np.float32) if is_factored(rule.factors) else d
    down = np.zeros(n, np.float32) if is_factored(rule.factors) else d
    return Columns(e, k, np.zeros(n, np.float32), np.zeros(n, np.float32), d, h, up, down)


@uncounted
def _tile(rule, gain, rest, re, rk, rd, rh, ru, e, k, g, r, d, h, down, lam, mu):
    """Four rows of one level from row i (E in re and rk, d in rd, h in rh, up in ru) against a run of columns.

    What all pairs of a column share, u = E_j times the gap of the gains, is multiplied in once for each row's sum and
    once for the four together: ρ = E_j v, so a pair has one division and three products besides its sums. Adds to the
    columns' λ and μ in place and returns the rows'.
    """
    swap, factors, force, span = rule.swap, rule.factors, rule.force, rule.span
    e0, e1, e2, e3 = re[0], re[1], re[2], re[3]
    k0, k1, k2, k3 = bits(rk[0]), bits(rk[1]), bits(rk[2]), bits(rk[3])
    d0, d1, d2, d3 = rd[0], rd[1], rd[2], rd[3]
    h0, h1, h2, h3 = rh[0], rh[1], rh[2], rh[3]
    u0, u1, u2, u3 = ru[0], ru[1], ru[2], ru[3]
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0)
    for j in range(e.size):
        ej, kj, dj, hj = e[j], bits(k[j]), d[j], h[j]
        u = times(factors, ej * gap(swap, gain, rest, g[j], r[j]), down[j])
        x0, v0 = inverse(span, e0, k0, ej, kj)
        x1, v1 = inverse(span, e1, k1, ej, kj)
        x2, v2 = inverse(span, e2, k2, ej, kj)
        x3, v3 = inverse(span, e3, k3, ej, kj)
        w0, w1 = lifted(span, step(swap, d0, h0, dj, hj)), lifted(span, step(swap, d1, h1, dj, hj))
        w2, w3 = lifted(span, step(swap, d2, h2, dj, hj)), lifted(span, step(swap, d3, h3, dj, hj))
        w0, w1 = times(factors, v0 * w0, u0), times(factors, v1 * w1, u1)
        w2, w3 = times(factors, v2 * w2, u2), times(factors, v3 * w3, u3)
        r0, r1, r2, r3 = ej * v0, ej * v1, ej * v2, ej * v3
        o0, o1, o2, o3 = x0 * v0, x1 * v1, x2 * v2, x3 * v3
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


@uncounted
def _row(rule, gain, rest, re, rk, rd, rh, ru, e, k, g, r, d, h, down, lam, mu):
    """One row against a run of columns, for what is left of a level after its tiles."""
    swap, factors, force = rule.swap, rule.factors, rule.force
    k_i = bits(rk)
    a = b = np.float32(0)
    for j in range(e.size):
        e_i, v = inverse(rule.span, re, k_i, e[j], bits(k[j]))
        u = times(factors, e[j] * gap(swap, gain, rest, g[j], r[j]), down[j])
        w = times(factors, v * lifted(rule.span, step(swap, rd, rh, d[j], h[j])), ru)
        rho, other = e[j] * v, e_i * v
        f, c = u * force_of(force, w, rho, other), u * curvature_of(force, w, rho, other)
        a += f
        b += c
        lam[j] -= f
        mu[j] += c
    return a, b


@uncounted
def rows_by_columns(rule, first, last, rows, lo, hi, columns):
    """Rows first:last of one level, each to be above all of the columns lo:hi.

    Adds to the float32 sums of both sides, which the caller carries to float64 after every BLOCK rows.
    """
    re, rk, row_gain, row_rest, rd, rh, ru, _ = rows.read
    ce, ck, cg, cr, cd, ch, _, c_down = columns.read
    row_lam, row_mu = rows.sums
    gain, rest = row_gain[first], row_rest[first]
    stop = _whole_vectors(lo, hi, columns.size)
    for c in range(lo, stop, CHUNK):
        c_end = min(c + CHUNK, stop)
        e, k, g, r, d, h = ce[c:c_end], ck[c:c_end], cg[c:c_end], cr[c:c_end], cd[c:c_end], ch[c:c_end]
        down, lam, mu = c_down[c:c_end], columns.sums[0][c:c_end], columns.sums[1][c:c_end]
        i = first
        while i + ROWS <= last:
            a0, a1, a2, a3, b0, b1, b2, b3 = _tile(
                rule, gain, rest, re[i:], rk[i:], rd[i:], rh[i:], ru[i:], e, k, g, r, d, h, down, lam, mu
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
            a0, b0 = _row(
                rule, gain, rest, re[i], rk[i], rd[i], rh[i], ru[i], e, k, g, r, d, h, down, lam, mu
            )
            row_lam[i] += a0
            row_mu[i] += b0
            i += 1


@uncounted
def blocks_by_columns(rule, first, last, rows, lo, hi, columns, since):
    """`rows_by_columns` for any number of rows; `since` counts those that the totals lack, and is returned."""
    for block in range(first, last, BLOCK):
        block_end = min(block + BLOCK, last)
        since = rows_since_carry(block_end - block, since, columns)
        rows_by_columns(rule, block, block_end, rows, lo, hi, columns)
    return since


@uncounted
def carry(side):
    """Move the float32 sums of a side to their float64 totals."""
    for x in range(2):
        part, total = side.sums[x], side.totals[x]
        for slot in range(side.size):
            total[slot] += part[slot]
            part[slot] = 0


@uncounted
def rows_since_carry(more, since, columns):
    """How many rows the totals lack once `more` are added; carries the sums before they grow too long."""
    if since + more > BLOCK:
        carry(columns)
        return more
    return since + more


@inlined
def _whole_vectors(lo, hi, size):
    """The end of a run lo:hi of columns, moved on to whole vectors where only padding follows."""
    return lo + (hi - lo + LANES - 1) // LANES * LANES if hi == size else hi
