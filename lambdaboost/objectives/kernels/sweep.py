"""λ and μ over all pairs of long lists in linear time.

The 2006 paper's headline is how training time grows with the documents of a query: slope 1.943 for pairs, 1.185 for its
speed-up. Here it is 1, since the force f is a smooth function of the score difference. Every score lies in a cell, up
to `WIDEST` wide. Each cell has a few Chebyshev points x_v, and with their Lagrange polynomials ℓ_v a sum over documents
is one over points:

    Σ_j a_j f(s_i − s_j) ≈ Σ_v f(s_i − x_v) M_v,          the *moments* M_v = Σ_j a_j ℓ_v(s_j).

The weight of a pair is a sum of products of the ranks' numbers D_k, the discount and the second term of a swap:

    |ΔZ| / |ΔG| = w_0 + Σ_k w_k (D_k of the upper document − D_k of the lower),

with w by the levels of both, which a swap's `sweep_terms` says. So for each level and each role, the better or the
worse of a pair, there are moments of all documents that it pairs with: those that D_0 = 1 multiplies, and those that
the D_k of its own document multiply.

Whether a document is the upper or the lower one changes during the sweep. It goes from rank to rank, and so from the
highest discount to the lowest; at first every document counts as a lower one, and as soon as the sweep has passed it,
as an upper one:

    documents in order     1 2 3 4 5 6 7
    the sweep is at              ^          4 reads the moments, in which 1 2 3 are above it and 5 6 7 below

E = e^{σs} of all documents is a float64 if scores are at most SWEEP_RANGE / σ apart. Others are swept once for each
*window* of scores. Across a distance of FLOAT32_ZERO + |c| ρ is 0 or 1, however wide it is. So whatever is further away
from a window may stand at that distance, and documents of the window read the same sums as without it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.levels import Levels
from lambdaboost.objectives.kernels.elementary import exp_minus_float64
from lambdaboost.objectives.kernels.sigmoid import FLOAT32_ZERO, SWEEP_RANGE, curvature, pair_lambdas
from lambdaboost.objectives.swaps.swap import (
    Document,
    Swap,
    gain_delta,
    n_sweep_terms,
    rank_terms,
    sweep_terms,
)

# Chebyshev points of a cell: in the widest, errors of a pair below 5e-7 of its weight; 2e-6 in μ and for `Local`, whose
# μ has 6e-6. They fall quickly with the width: all cells of a list have the same, and scores in one place a narrow one.
N_POINTS = 12
WIDEST = 4.0  # a cell, in σs; the force has poles at distance π
WIDEST_OF_FEW = 3.0  # where scores lie so far apart that errors of few pairs are to be small beside their sum
# The sweep is worth it for queries of more pairs a document than this, and of few levels, each of which has moments.
PAIRS_A_DOCUMENT = 1000
LEVELS = 16

X = np.cos((np.arange(N_POINTS) + 0.5) * np.pi / N_POINTS)  # the points on [−1, 1]
SCALE = 1 / np.prod(X[:, None] - X + np.eye(N_POINTS), axis=1)  # ℓ_u(x) = SCALE_u Π_{v≠u} (x − x_v)

BETTER, WORSE = 0, 1  # the role of the document that reads moments


def is_sweep_faster(q: Queries, levels: Levels, swap: Swap) -> NDArray[np.bool_]:
    """Which queries have enough pairs, and few enough levels, for the sweep to be faster; (n_queries,)."""
    # A document has fewer pairs than its list has documents.
    if not swap.is_sum or q.sizes.max() <= PAIRS_A_DOCUMENT:
        return np.zeros(q.n_queries, dtype=bool)
    # A pair needs a document above the cutoff.
    pairs = levels.count_pairs() * np.minimum(1, 2 * swap.cutoff / q.sizes)
    worth: NDArray[np.bool_] = (np.diff(levels.first) <= LEVELS) & (pairs > PAIRS_A_DOCUMENT * q.sizes)
    return worth


@inlined
def _write_lagrange(place, lagrange):
    """Write ℓ_v of every point at a place in [−1, 1]."""
    product = 1.0
    for v in range(N_POINTS):
        lagrange[v] = SCALE[v] * product
        product *= place - X[v]
    product = 1.0
    for v in range(N_POINTS - 1, -1, -1):
        lagrange[v] *= product
        product *= place - X[v]


@inlined
def _write_weights(swap, gain, reach, second, weights):
    """Write w of every pair of an upper and a lower level, times the difference of their gains; 0 where none pair.

    `gain`, `reach` and `second`, the second term of its documents, are by level; `weights` is (n_levels, n_levels,
    1 + number of D_k).
    """
    for upper in range(gain.size):
        for lower in range(gain.size):
            w = weights[upper, lower]
            for k in range(w.size):
                w[k] = 0
            better, worse = min(upper, lower), max(upper, lower)
            if better < worse < reach[better]:
                i = Document(0.0, gain[better], 0.0, 0.0, 0.0, 0.0)
                j = Document(0.0, gain[worse], 0.0, 0.0, 0.0, 0.0)
                of_gains = gain_delta(swap, i, j)
                for k, of_term in enumerate(sweep_terms(swap, upper, lower, second)):
                    w[k] = of_term * of_gains


@inlined
def _add(factor, lagrange, of_cell):
    """Add ℓ_v times a factor to a number of each point of a cell."""
    for v in range(of_cell.size):
        of_cell[v] += factor * lagrange[v]


@inlined
def _add_to_level(swap, cell, discount, second, factor, lagrange, sums):
    """Add a document to the sums of its level, Σ_j ℓ_v(s_j) D_k(j), times `factor`.

    `sums` is (n_terms, n_cells, N_POINTS).
    """
    _add(factor, lagrange, sums[0, cell])
    if n_sweep_terms(swap) > 0:
        _add(factor * discount, lagrange, sums[1, cell])
    if n_sweep_terms(swap) > 1:
        _add(factor * second, lagrange, sums[2, cell])


@inlined
def _write_moments(weights, has_factors, sums, moments):
    """Write the moments of each level while all documents of the others are lower ones.

    `moments` is (n_levels, 2, n_terms, n_points), by the level and the role of the document that will read them.
    """
    n_levels, _, n_terms, n_points = moments.shape
    for upper in range(n_levels):
        for lower in range(n_levels):
            w, role = weights[upper, lower], BETTER if upper < lower else WORSE
            of_lower = sums[lower, BETTER if has_factors and lower < upper else WORSE]
            for v in range(n_points):
                moments[upper, role, 0, v] += w[0] * of_lower[0, v]
                for k in range(1, n_terms):
                    moments[upper, role, 0, v] -= w[k] * of_lower[k, v]
                    moments[upper, role, k, v] += w[k] * of_lower[0, v]


@inlined
def _read_moments(swap, force, level, discount, second, factor, e, e_points, moments):
    """λ and μ of a document with E = `e`; `e_points` (n_points,) are E of the points."""
    better, worse = moments[level, BETTER], moments[level, WORSE]
    # Those that D_0 = 1 and the D_k multiply. Where there is no D_1 or D_2 these are others, and not read.
    n_terms = better.shape[0]
    above_0, above_1, above_2 = better[0], better[min(1, n_terms - 1)], better[n_terms - 1]
    below_0, below_1, below_2 = worse[0], worse[min(1, n_terms - 1)], worse[n_terms - 1]
    lam = mu = 0.0
    shifted_e = force.shift * e  # e^c E of the better document of a pair
    for v in range(e_points.size):
        # The weight of its pairs with a point in which it should be above, and in which it should be below.
        above, below = above_0[v], below_0[v]
        if n_sweep_terms(swap) > 0:
            above += discount * above_1[v]
            below += discount * below_1[v]
        if n_sweep_terms(swap) > 1:
            above += second * above_2[v]
            below += second * below_2[v]

        # ρ where the document is the better, then where the point is.
        inverse = 1 / (shifted_e + e_points[v])
        rho, rest = e_points[v] * inverse, shifted_e * inverse
        f, c = pair_lambdas(force, factor * above * rho, rho, rest)
        lam += f
        mu += c
        shifted = force.shift * e_points[v]
        inverse = 1 / (shifted + e)
        rho, rest = e * inverse, shifted * inverse
        f, c = pair_lambdas(force, below * rho, rho, rest)
        lam -= f
        mu += c
    return lam, mu


@inlined
def _raise_document(swap, level, discount, second, factor, cell, weights, lagrange, moments):
    """Make a document an upper one, which was a lower one, in the moments of all levels that pair with its own.

    `moments` is (n_levels, 2, n_terms, n_cells, N_POINTS).
    """
    for other in range(moments.shape[0]):
        if other == level:
            continue
        role = WORSE if level < other else BETTER
        as_upper, as_lower = weights[level, other], weights[other, level]
        # What multiplies the D_k of the documents of the other level, and D_0 = 1.
        own_factor = factor if level < other else 1.0
        of_1 = as_upper[0] - as_lower[0]
        if n_sweep_terms(swap) > 0:
            w = as_upper[1] + as_lower[1]
            of_1 += w * discount
            _add(-own_factor * w, lagrange, moments[other, role, 1, cell])
        if n_sweep_terms(swap) > 1:
            w = as_upper[2] + as_lower[2]
            of_1 += w * second
            _add(-own_factor * w, lagrange, moments[other, role, 2, cell])
        _add(own_factor * of_1, lagrange, moments[other, role, 0, cell])


@kernel
def sum_by_sweep(first, last, offsets, selected, order, scores, levels, gain, factor, swap, force, out):
    """Write λ and μ of queries first:last that are selected.

    Shapes as of `tiles.sum_by_tiles`.
    """
    n_terms = 1 + n_sweep_terms(swap)
    for q in range(first, last):
        if not selected[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        n, by_rank, level_of, s = b - a, order[a:b], levels.of_document[a:b], scores[a:b]
        reach = levels.reach[levels.first[q] : levels.first[q + 1]]
        gain_of_level, n_levels = gain[levels.first[q] : levels.first[q + 1]], reach.size

        # Discount, which falls from rank to rank, and second term.
        discount, second = np.empty(n), np.empty(n)
        rank_terms(swap, a, by_rank, discount, second)

        # What weights the pairs of an upper and a lower level. Second terms by level are for `sweep_terms` of
        # ERR, whose second term is the same in a level; others do not read them.
        second_of_level, weights = np.zeros(n_levels), np.empty((n_levels, n_levels, n_terms))
        for rank in range(n):
            if level_of[by_rank[rank]] >= 0:
                second_of_level[level_of[by_rank[rank]]] = second[rank]
        _write_weights(swap, gain_of_level, reach, second_of_level, weights)

        # By rank: level, and σ (score − lowest).
        level, units, lowest, extent = np.empty(n, np.int32), np.empty(n), s[0], 0.0
        for i in range(n):
            lowest = min(lowest, s[i])
        for rank in range(n):
            i = by_rank[rank]
            units[rank], level[rank] = force.sigma * (s[i] - lowest), level_of[i]
            extent = max(extent, units[rank])
            if level[rank] < 0:
                out[0, a + i] = out[1, a + i] = 0

        # One window for all scores, or as many as it takes. `margin` is how far a document sees.
        margin, longest_window = FLOAT32_ZERO + abs(force.center), SWEEP_RANGE - abs(force.center)
        window, n_windows, widest = max(extent, 1.0), 1, WIDEST
        if extent > longest_window:
            window = longest_window - 2 * margin
            n_windows = np.int64(extent / window) + 1
            widest = WIDEST_OF_FEW
        lagrange, place, e = np.empty((n, N_POINTS)), np.empty(n), np.empty(n)
        for number in range(n_windows):
            # Documents out of sight of the window stand at its floor and at its ceiling.
            floor = max(number * window - margin, 0.0)
            height = min((number + 1) * window + margin, extent) - floor

            # Cells, from the floor on, and E of their points, which is 1 at the ceiling.
            n_cells = np.int64(height / widest) + 1
            width = max(height / n_cells, 1.0)
            e_points = np.empty(n_cells * N_POINTS)
            for v in range(e_points.size):
                e_points[v] = np.exp(width * (v // N_POINTS + 0.5 * (1 + X[v % N_POINTS])) - height)
            for rank in range(n):
                place[rank] = min(max(units[rank] - floor, 0.0), height)
            for rank in range(n):
                e[rank] = exp_minus_float64(height - place[rank])

            # Every document as a lower one, by level.
            sums = np.zeros((n_levels, 2, n_terms, e_points.size))
            moments = np.zeros((n_levels, 2, n_terms, e_points.size))
            # N_POINTS, as a number that the compiler does not know: else it writes the loops over the points of a cell
            # step by step before it looks for vectors.
            n_points = e_points.size // n_cells
            shape = n_levels, 2, n_terms, n_cells, n_points
            sums_by_cell, moments_by_cell = sums.reshape(shape), moments.reshape(shape)
            for rank in range(n):
                if level[rank] >= 0:
                    cell = min(np.int64(place[rank] / width), n_cells - 1)
                    _write_lagrange(2 * (place[rank] / width - cell) - 1, lagrange[rank, :n_points])
                    document, of_level = (cell, discount[rank], second[rank]), sums_by_cell[level[rank]]
                    _add_to_level(swap, *document, 1.0, lagrange[rank, :n_points], of_level[WORSE])
                    if factor.size:
                        own_factor = np.float64(factor[a + by_rank[rank]])
                        _add_to_level(
                            swap, *document, own_factor, lagrange[rank, :n_points], of_level[BETTER]
                        )
            _write_moments(weights, factor.size > 0, sums, moments)

            # The sweep: each document of the window reads its moments, and each is an upper one from there on.
            for rank in range(n):
                i = by_rank[rank]
                if level[rank] < 0:
                    continue
                own_factor = np.float64(factor[a + i]) if factor.size else 1.0
                document = level[rank], discount[rank], second[rank], own_factor
                if np.int64(units[rank] / window) == number or n_windows == 1:
                    lam, mu = _read_moments(swap, force, *document, e[rank], e_points, moments)
                    out[0, a + i], out[1, a + i] = lam, curvature(force, mu)
                cell = min(np.int64(place[rank] / width), n_cells - 1)
                _raise_document(swap, *document, cell, weights, lagrange[rank, :n_points], moments_by_cell)
