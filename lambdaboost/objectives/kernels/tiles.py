"""Tiles: rows of one level against a run of columns, the project's innermost loops.

With E_i = exp(σ(s_i − s_max)) a pair costs one division, ρ = E_j/(E_i + E_j), and no exponential; `pair_weight` says
what it weighs, `loss` how hard it is pushed. The loops never branch on labels.

Padding makes most loops a whole number of vectors: a column with E = 0 has ρ = 0 and adds nothing.
"""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import inlined, uncounted
from lambdaboost.objectives.kernels.loss import curvature_of, force_of
from lambdaboost.objectives.kernels.pair_weight import ONE, gap, step

RANGE = 72.0  # σ-ranges up to this keep every E, and what a pair adds to a column, a normal float32
NOTHING = 104.0  # e^{−x} from here is 0 in float32
ROWS = 4  # rows of a tile: enough to use a loaded column four times, few enough for 32 registers
LANES = 32  # columns are padded to a multiple of this
BLOCK = 64 * ROWS  # rows summed into a column in float32 before the sum is carried to float64
CHUNK = 2048  # columns that a tile runs over: they and their sums stay in the nearest cache


@uncounted
def _tile(swap, force, gain, rest, re, rd, rh, e, g, r, d, h, lam, mu):
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


@uncounted
def _row(swap, force, gain, rest, re, rd, rh, e, g, r, d, h, lam, mu):
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


@uncounted
def rows_by_columns(swap, force, first, last, rows, lo, hi, columns, row_sums, column_sums):
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


@uncounted
def carry(sums, totals, first, last):
    """Move the float32 sums of first:last to their float64 totals."""
    for x in range(2):
        part, total = sums[x], totals[x]
        for slot in range(first, last):
            total[slot] += part[slot]
            part[slot] = 0


@inlined
def _pad(n):
    return (n + LANES - 1) // LANES * LANES


@inlined
def run_stop(lo, hi, m):
    """The end of a run lo:hi of columns, moved on to whole vectors where only padding follows."""
    return lo + _pad(hi - lo) if hi == m else hi
