"""λ and μ over all pairs of one long list, each pair weighted by a difference of figures of its documents: linear time.

The tree (`tree`) takes for granted that discounts fall with the score. Mean discounts over noisy rankings do not. So
here the documents are taken in the order of their mean discounts m, lowest first, and each meets those before it:

    λ_i ∋ Σ_j |g_i − g_j| (m_i − m_j) f(s_i − s_j)        over j before i, whose m_j ≤ m_i: no sign to ask for.

f is smooth, so a sum over j of figures times f(s_i − s_j) is one over fixed points x_v: every score lies in a cell with
a few Chebyshev points, ℓ_v their Lagrange polynomials, and

    Σ_j a_j f(s_i − s_j) ≈ Σ_v f(s_i − x_v) M_v,          M_v = Σ_j a_j ℓ_v(s_j).

For each level there are the moments M of the documents that it should be above and of those that should be above it,
times the differences of the gains, with a_j = 1 and a_j = m_j. A document adds to the points of its own cell, and reads
all points. What it has with those after it follows from the moments of all:

    Σ_after (m_j − m_i) a_j = Σ_all (m_j − m_i) a_j + Σ_before (m_i − m_j) a_j,

so the tables begin with −Σ_all, and each document adds twice what it has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.objectives.kernels.tree import N_POINTS, SCALE, WIDTH, X

TO_WORSE, TO_WORSE_M, TO_BETTER, TO_BETTER_M = range(
    4
)  # moments of a level, by the role of its document and by a_j


@inlined
def _read_tables(table, m, e, e_points, f_better):
    """λ and μ of a document of mean discount m and E = e against all points."""
    worse, worse_m, better, better_m = (
        table[TO_WORSE],
        table[TO_WORSE_M],
        table[TO_BETTER],
        table[TO_BETTER_M],
    )
    lam = mu = 0.0
    for v in range(e_points.size):
        rho = e_points[v] / (e + e_points[v])
        above, below = f_better * (m * worse[v] - worse_m[v]), m * better[v] - better_m[v]
        lam += above * rho - below * (1 - rho)
        mu += (above + below) * rho * (1 - rho)
    return lam, mu


@kernel
def sum_by_sweep(s, mean, level, by_mean, gain, factor, out):
    """Write λ and μ of one list.

    `s` (n,) are σ times the scores, from 0; `mean` (n,) and `level` (n,) of the documents, `by_mean` (n,) the documents
    by mean discount, lowest first; `gain` (n_levels,); `factor` (n,), or of no length where all are 1; `out` (2, n).
    """
    n, n_levels = s.size, gain.size
    n_cells = np.int64(s.max() / WIDTH) + 1
    n_points = n_cells * N_POINTS
    points, e, e_points = np.empty(n_points), np.exp(s), np.empty(n_points)
    for v in range(n_points):
        points[v] = WIDTH * (v // N_POINTS + 0.5 * (1 + X[v % N_POINTS]))
        e_points[v] = np.exp(points[v])

    # In the order of the sweep, the cell of each document and the Lagrange polynomials of the cell's points there.
    cell, lagrange = np.empty(n, np.int64), np.empty((n, N_POINTS))
    for x in range(n):
        score = s[by_mean[x]] / WIDTH
        cell[x] = min(np.int64(score), n_cells - 1)
        place, product = 2 * (score - cell[x]) - 1, 1.0
        for v in range(N_POINTS):
            lagrange[x, v] = SCALE[v] * product
            product *= place - X[v]
        product = 1.0
        for v in range(N_POINTS - 1, -1, -1):
            lagrange[x, v] *= product
            product *= place - X[v]

    # First −Σ_all of every level, then twice each document's share as the sweep passes it.
    tables = np.zeros((n_levels, 4, n_points))
    for sweep in range(2):
        share = 2.0 if sweep else -1.0
        for x in range(n):
            i = by_mean[x]
            own, m = level[i], np.float64(mean[i])
            if own < 0:
                continue
            f_better = np.float64(factor[i]) if factor.size else 1.0
            if sweep:
                lam, mu = _read_tables(tables[own], m, e[i], e_points, f_better)
                out[0, i], out[1, i] = lam, mu
            here = cell[x] * N_POINTS
            for other in range(n_levels):
                if other == own:
                    continue
                # This document is the worse of pairs with better levels, which look for it among those to be above.
                is_worse = other < own
                row = TO_WORSE if is_worse else TO_BETTER
                weight = share * abs(np.float64(gain[other]) - np.float64(gain[own]))
                weight *= 1.0 if is_worse else f_better
                plain, times_m = tables[other, row], tables[other, row + 1]
                for v in range(N_POINTS):
                    figure = weight * lagrange[x, v]
                    plain[here + v] += figure
                    times_m[here + v] += figure * m


def lambdas_by_sweep(lists: Any, formula: Any, out: Any) -> None:
    """Write λ and μ of the queries that are wanted, whose scores lie at most RATIO_RANGE / σ apart."""
    levels, queries = lists.levels, np.flatnonzero(lists.wanted)

    def block(first: int, last: int, _: Any) -> None:
        for q in queries[first:last]:
            rows, own_levels = slice(*levels.offsets[q : q + 2]), slice(*levels.first[q : q + 2])
            out[:, rows] = 0
            scores, mean = lists.scores[rows], formula.swap.mean[rows]
            sum_by_sweep(
                formula.sigmoid.sigma * (scores - scores.min()), mean, levels.of_document[rows], np.argsort(mean),
                lists.gain[own_levels], lists.factor[rows], out[:, rows],
            )  # fmt: skip

    over_queries(block, np.append(0, np.cumsum(np.diff(levels.offsets)[queries])))
