"""What a pair adds to λ and μ, and tiles: rows of one level against a run of columns, the innermost loops.

`pair` is the formula, for tiles, lanes and the leaves of the tree, with weights by `pair_weight` and forces by `loss`.
The loops never branch on labels. Padding makes most of them a whole number of vectors: a column with E = 0 has ρ = 0
and adds nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import inlined
from lambdaboost.objectives.kernels.loss import as_better, pair_gradients, sigmoid_pair
from lambdaboost.objectives.kernels.pair_weight import ONE, Document, gain_delta, rank_delta, times

# The rows of `slots`, an array with a column for each document: what pairs read of it, and its sums so far.
E, GAIN, D, H, FACTOR, LAM, MU = map(np.int64, range(7))
TILE_ROWS = 4  # rows of a tile: enough to use a loaded column four times, few enough for 32 registers
PADDING = 32  # columns are padded to a multiple of this
ROWS_CARRIED = 64 * TILE_ROWS  # rows summed into a column in float32 before the sum is carried to float64
CHUNK = 2048  # columns that a tile runs over: they and their sums stay in the nearest cache


class PairFormula(NamedTuple):
    """The weight and the force of a pair: the compiler knows all four by their types."""

    swap: Any
    factors: Any
    gradient: Any
    sigmoid: Any


class Run(NamedTuple):
    """Some of the documents in `slots`, one after the other."""

    e: Any
    gain: Any
    d: Any
    h: Any
    factor: Any
    lam: Any
    mu: Any


@inlined
def pair(formula, i, j):
    """Force and curvature of a pair over `gain_delta`, which all pairs of j with one level have in common."""
    rho, rest = sigmoid_pair(formula.sigmoid, i.e, j.e)
    weighted = times(formula.factors, rho * rank_delta(formula.swap, i, j), i.factor)
    return pair_gradients(formula.gradient, weighted, rho, rest)


@inlined
def run_of(slots, lo, hi):
    """The slots lo:hi."""
    return Run(
        slots[E, lo:hi], slots[GAIN, lo:hi], slots[D, lo:hi], slots[H, lo:hi], slots[FACTOR, lo:hi],
        slots[LAM, lo:hi], slots[MU, lo:hi],
    )  # fmt: skip


@inlined
def subrun(run, lo, hi):
    """A part of a run."""
    return Run(
        run.e[lo:hi], run.gain[lo:hi], run.d[lo:hi], run.h[lo:hi], run.factor[lo:hi], run.lam[lo:hi], run.mu[lo:hi],
    )  # fmt: skip


@inlined
def row_document(formula, rows, i):
    """The document of a row, the better of a pair."""
    return Document(as_better(formula.sigmoid, rows.e[i]), rows.gain[i], rows.d[i], rows.h[i], rows.factor[i])


@inlined
def column_document(columns, j):
    """The document of a column, the worse of a pair."""
    return Document(columns.e[j], columns.gain[j], columns.d[j], columns.h[j], ONE)


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
