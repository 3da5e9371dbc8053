"""λ and μ over all pairs of one long list in near-linear time.

The 2006 paper's headline is how training time grows with the documents of a query: slope 1.943 for pairs, 1.185 for its
speed-up. Here it is 1: the force is a smooth function of the score difference, so between two runs of the sorted list
that lie side by side the sum over pairs is a smooth kernel sum. A binary tree cuts the list; sibling runs meet through
charges on a few Chebyshev points per grade, everything a document needs of a far run is one short expansion, and only
the pairs inside a leaf are computed as pairs. One rule for all pairs (i at an earlier rank than j, t = −σ·score):

    i better:  λ_i += w f(t_j − t_i),  λ_j −= w f(t_j − t_i)
    j better:  λ_j += w f(t_i − t_j),  λ_i −= w f(t_i − t_j),     w = A[grade_i, grade_j] · (D_i − D_j).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.exp import exp_minus
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import curvature_of, force_of
from lambdaboost.objectives.kernels.pair_weight import ONE, gap
from lambdaboost.objectives.kernels.tiles import (
    LANES,
    NOTHING,
    RANGE,
    rows_by_columns,
    run_stop,
)
from lambdaboost.objectives.kernels.two_floats import split_one

POINTS = 12  # Chebyshev points of a run: errors below 4e-7 for runs up to WIDTH
WIDTH = 4.0  # the widest run, in t, that meets another through its points; the force has poles at distance π
FAR = 40.0  # from here the force is constant to float64, however wide the runs
LEAF = 256  # documents whose pairs are computed one by one
# The tree is worth it for queries of more pairs a document than this, and of few levels, each of which has charges.
PAIRS_A_DOCUMENT = 1000
LEVELS = 16

_U = (np.arange(POINTS) + 0.5) * np.pi / POINTS
X = np.cos(_U)  # the points on [−1, 1]
T = np.cos(np.outer(np.arange(POINTS), _U))  # T[k, u] = T_k(X[u])
# Charges at points from moments, values' coefficients from values at points: both are this matrix.
TO_POINTS = T * np.where(np.arange(POINTS) == 0, 1.0, 2.0)[:, None] / POINTS


@inlined
def _chebyshev(x, out):
    """T_0(x), …, T_{POINTS−1}(x)."""
    out[0] = 1.0
    out[1] = x
    for k in range(2, POINTS):
        out[k] = 2 * x * out[k - 1] - out[k - 2]


@inlined
def _boundary(node, m):
    """First and last + 1 document of a node; node 1 is the root, 2k and 2k + 1 the halves of k."""
    depth = 0
    k = node
    while k > 1:
        k //= 2
        depth += 1
    width = 1 << depth
    at = node - width
    return m * at // width, m * (at + 1) // width


@inlined
def _middle_half(t, first, last):
    """Middle and half width of a run's interval of t; never of no width."""
    return 0.5 * (t[first] + t[last - 1]), max(0.5 * (t[last - 1] - t[first]), 1e-9)


@inlined
def _leaf_charges(t, d, grade, first, last, charge):
    """Charges of a leaf: charge[grade, 0] stands for Σ 1 and charge[grade, 1] for Σ D of its documents."""
    moments = np.zeros(charge.shape)
    basis = np.empty(POINTS)
    middle, half = _middle_half(t, first, last)
    for i in range(first, last):
        _chebyshev((t[i] - middle) / half, basis)
        for k in range(POINTS):
            moments[grade[i], 0, k] += basis[k]
            moments[grade[i], 1, k] += d[i] * basis[k]
    _mapped(moments, TO_POINTS, charge)


@inlined
def _mapped(vectors, matrix, out):
    """Add to out[…, u] the sum over k of vectors[…, k] matrix[k, u]."""
    for a in range(vectors.shape[0]):
        for b in range(vectors.shape[1]):
            for k in range(POINTS):
                v = vectors[a, b, k]
                if v != 0:
                    for u in range(POINTS):
                        out[a, b, u] += v * matrix[k, u]


@inlined
def _child_to_parent(t, child, parent, m, matrix):
    """matrix[u, v]: the parent's Lagrange polynomial of point v at the child's point u."""
    a, b = _boundary(child, m)
    middle, half = _middle_half(t, a, b)
    a, b = _boundary(parent, m)
    parent_middle, parent_half = _middle_half(t, a, b)
    basis = np.empty(POINTS)
    for u in range(POINTS):
        _chebyshev((middle + half * X[u] - parent_middle) / parent_half, basis)
        for v in range(POINTS):
            total = 0.0
            for k in range(POINTS):
                total += basis[k] * TO_POINTS[k, v]
            matrix[u, v] = total


@inlined
def _force(force, o, center):
    """Force and curvature at a difference of t."""
    apart = o + center
    rho = rest = 1.0
    if apart > NOTHING:
        rho = 0.0
    elif apart < -NOTHING:
        rest = 0.0
    else:
        rho, rest = 1.0 / (1.0 + math.exp(apart)), 1.0 / (1.0 + math.exp(-apart))
    return force_of(force, rho, rho, rest), curvature_of(force, rho, rho, rest)


@inlined
def _meet(force, above, below, weight, center, by_rank, above_points, below_points, charge, field, work):
    """Two runs act on each other: charges at one's points become a field at the other's.

    field[node, grade, 0:2] are the λ that a document of that grade feels per unit and per D of its own weight,
    field[node, grade, 2:4] the μ.
    """
    right, wrong, right_mu, wrong_mu, y = work
    for u in range(POINTS):
        for v in range(POINTS):
            o = below_points[v] - above_points[u]
            right[u, v], right_mu[u, v] = _force(force, o, center)
            wrong[u, v], wrong_mu[u, v] = _force(force, -o, center)
    n_grades = weight.shape[0]
    for downward in range(2):
        source, target = (below, above) if downward == 0 else (above, below)
        for b in range(n_grades):
            if charge[source, b, 0, 0] == 0 and charge[source, b, 0, POINTS - 1] == 0:
                continue
            for moment in range(2 if by_rank else 1):
                y[:] = 0
                for u in range(POINTS):
                    for v in range(POINTS):
                        to, of = (u, v) if downward == 0 else (v, u)
                        c = charge[source, b, moment, of]
                        y[0, to] += right[u, v] * c
                        y[1, to] += wrong[u, v] * c
                        y[2, to] += right_mu[u, v] * c
                        y[3, to] += wrong_mu[u, v] * c
                # (D_i − D_j) is D − D′ for the run above and D′ − D for the run below.
                flip = -1.0 if by_rank and downward == 1 else 1.0
                for a in range(n_grades):
                    w = weight[a, b]
                    if w == 0:
                        continue
                    target_better = a < b
                    # The pair is in the right order if the better document stands in the run above.
                    in_order = target_better == (downward == 0)
                    sign = w if target_better else -w
                    for to in range(POINTS):
                        pull, curvature = (y[0, to], y[2, to]) if in_order else (y[1, to], y[3, to])
                        field[target, a, moment, to] += flip * sign * pull
                        field[target, a, 2 + moment, to] += flip * w * curvature


@inlined
def _empty_columns(room):
    """Memory for E, gain and its rest, discount and its rest."""
    return (
        np.empty(room, np.float32),
        np.empty(room, np.float32),
        np.empty(room, np.float32),
        np.empty(room, np.float32),
        np.empty(room, np.float32),
    )


@inlined
def _leaf_layout(first, last, t, g, d, grade, from_t, layout, start, document):
    """A run level by level: what tiles read, where each level starts, and the document in each slot."""
    e, gain, gain_rest, discount, discount_rest = layout
    start[:] = 0
    for i in range(first, last):
        start[grade[i] + 1] += 1
    for level in range(start.size - 1):
        start[level + 1] += start[level]
    following = start.copy()
    for i in range(first, last):
        slot = following[grade[i]]
        following[grade[i]] += 1
        document[slot] = i
        e[slot], gain[slot], gain_rest[slot] = exp_minus(t[i] - from_t), g[0][grade[i]], g[1][grade[i]]
        discount[slot], discount_rest[slot] = split_one(d[i])
    for slot in range(last - first, last - first + LANES):
        e[slot] = gain[slot] = gain_rest[slot] = discount[slot] = discount_rest[slot] = 0


@inlined
def _levels_meet(swap, force, shift, rows, row_start, columns, column_start, row_sums, column_sums):
    """Every level of the rows against all worse levels of the columns."""
    e, g, g_rest, d, d_rest = rows
    shifted = (e * shift if shift != ONE else e, g, g_rest, d, d_rest)
    m = column_start[-1]
    for level in range(row_start.size - 1):
        lo = column_start[level + 1]
        if row_start[level] < row_start[level + 1] and lo < m:
            rows_by_columns(
                swap, force, row_start[level], row_start[level + 1], shifted, lo, run_stop(lo, m, m), columns,
                row_sums, column_sums,
            )  # fmt: skip


@inlined
def _collect(document, n, sums, lam, mu):
    for slot in range(n):
        lam[document[slot]] += sums[0][slot]
        mu[document[slot]] += sums[1][slot]


@inlined
def _near_pairs(a0, a1, b0, b1, swap, force, center, by_rank, t, g, d, grade, weight, lam, mu):
    """All pairs of documents a0:a1 with documents b0:b1, a run with itself or with a later one, as pairs."""
    if t[b1 - 1] - t[a0] + abs(center) > RANGE:
        _pairs_one_by_one(a0, a1, b0, b1, t, d, grade, weight, force, center, by_rank, lam, mu)
        return
    room = LEAF + 2 * LANES
    n_levels = weight.shape[0]
    above = _empty_columns(room)
    above_start, above_document = np.empty(n_levels + 1, np.int64), np.empty(room, np.int64)
    above_sums = np.zeros(room, np.float32), np.zeros(room, np.float32)
    shift = np.float32(math.exp(center))
    _leaf_layout(a0, a1, t, g, d, grade, t[a0], above, above_start, above_document)
    if a0 == b0:
        _levels_meet(swap, force, shift, above, above_start, above, above_start, above_sums, above_sums)
    else:
        below = _empty_columns(room)
        below_start, below_document = np.empty(n_levels + 1, np.int64), np.empty(room, np.int64)
        below_sums = np.zeros(room, np.float32), np.zeros(room, np.float32)
        _leaf_layout(b0, b1, t, g, d, grade, t[a0], below, below_start, below_document)
        _levels_meet(swap, force, shift, above, above_start, below, below_start, above_sums, below_sums)
        _levels_meet(swap, force, shift, below, below_start, above, above_start, below_sums, above_sums)
        _collect(below_document, b1 - b0, below_sums, lam, mu)
    _collect(above_document, a1 - a0, above_sums, lam, mu)


@inlined
def _pairs_one_by_one(a0, a1, b0, b1, t, d, grade, weight, force, center, by_rank, lam, mu):
    """Pairs of two runs one by one: for scores too far apart for E."""
    for i in range(a0, a1):
        for j in range(max(b0, i + 1), b1):
            w = weight[grade[i], grade[j]]
            if by_rank:
                w *= d[i] - d[j]
            if w != 0:
                side = 1.0 if grade[i] < grade[j] else -1.0
                f, curvature = _force(force, side * (t[j] - t[i]), center)
                lam[i] += side * w * f
                lam[j] -= side * w * f
                mu[i] += w * curvature
                mu[j] += w * curvature


@inlined
def _leaf_values(t, d, grade, first, last, field, by_rank, lam, mu):
    """Add the field of a leaf to its documents."""
    coefficients = np.zeros(field.shape)
    for a in range(field.shape[0]):
        for b in range(4):
            for u in range(POINTS):
                v = field[a, b, u]
                for k in range(POINTS):
                    coefficients[a, b, k] += v * TO_POINTS[k, u]
    basis = np.empty(POINTS)
    middle, half = _middle_half(t, first, last)
    for i in range(first, last):
        _chebyshev((t[i] - middle) / half, basis)
        c = coefficients[grade[i]]
        per_unit = per_d = mu_unit = mu_d = 0.0
        for k in range(POINTS):
            per_unit += c[0, k] * basis[k]
            per_d += c[1, k] * basis[k]
            mu_unit += c[2, k] * basis[k]
            mu_d += c[3, k] * basis[k]
        lam[i] += d[i] * per_unit - per_d if by_rank else per_unit
        mu[i] += d[i] * mu_unit - mu_d if by_rank else mu_unit


@inlined
def _rise(t, leaves, d, grade, charge):
    """Charges of all nodes, from the leaves up."""
    matrix = np.empty((POINTS, POINTS))
    for node in range(leaves, 2 * leaves):
        first, last = _boundary(node, t.size)
        _leaf_charges(t, d, grade, first, last, charge[node])
    for node in range(2 * leaves - 1, 3, -1):
        _child_to_parent(t, node, node // 2, t.size, matrix)
        _mapped(charge[node], matrix, charge[node // 2])


@inlined
def _meet_all(swap, force, center, by_rank, leaves, t, g, d, grade, weight, charge, field, lam, mu):
    """Every pair of runs once: siblings, cut down until both are narrow, or far apart, or leaves."""
    m = t.size
    square = (POINTS, POINTS)
    work = np.empty(square), np.empty(square), np.empty(square), np.empty(square), np.empty((4, POINTS))
    above_points, below_points = np.empty(POINTS), np.empty(POINTS)
    pending = [(2 * node, 2 * node + 1) for node in range(1, leaves)]
    while len(pending) > 0:
        above, below = pending.pop()
        a0, a1 = _boundary(above, m)
        b0, b1 = _boundary(below, m)
        above_width, below_width = t[a1 - 1] - t[a0], t[b1 - 1] - t[b0]
        if max(above_width, below_width) <= WIDTH or t[b0] - t[a1 - 1] >= FAR + abs(center):
            middle, half = _middle_half(t, a0, a1)
            above_points[:] = middle + half * X
            middle, half = _middle_half(t, b0, b1)
            below_points[:] = middle + half * X
            _meet(
                force, above, below, weight, center, by_rank, above_points, below_points, charge, field, work
            )
        elif above < leaves and (above_width >= below_width or below >= leaves):
            pending.append((2 * above, below))
            pending.append((2 * above + 1, below))
        elif below < leaves:
            pending.append((above, 2 * below))
            pending.append((above, 2 * below + 1))
        else:
            _near_pairs(a0, a1, b0, b1, swap, force, center, by_rank, t, g, d, grade, weight, lam, mu)


@inlined
def _descend(t, leaves, field):
    """Hand every node's field down to its children."""
    matrix = np.empty((POINTS, POINTS))
    for node in range(4, 2 * leaves):
        _child_to_parent(t, node, node // 2, t.size, matrix)
        for a in range(field.shape[1]):
            for b in range(4):
                for u in range(POINTS):
                    total = 0.0
                    for v in range(POINTS):
                        total += matrix[u, v] * field[node // 2, a, b, v]
                    field[node, a, b, u] += total


@inlined
def _one_list(swap, force, center, by_rank, t, g, d, grade, weight, lam, mu):
    """Add the pairs of one list; t ascending, discounts d and grades (0 best) by rank, gains g by grade."""
    m = t.size
    leaves = 1
    while m > LEAF * leaves:
        leaves *= 2
    charge = np.zeros((2 * leaves, weight.shape[0], 2, POINTS))
    field = np.zeros((2 * leaves, weight.shape[0], 4, POINTS))
    _rise(t, leaves, d, grade, charge)
    _meet_all(swap, force, center, by_rank, leaves, t, g, d, grade, weight, charge, field, lam, mu)
    _descend(t, leaves, field)
    for node in range(leaves, 2 * leaves):
        a, b = _boundary(node, m)
        _leaf_values(t, d, grade, a, b, field[node], by_rank, lam, mu)
        _near_pairs(a, b, a, b, swap, force, center, by_rank, t, g, d, grade, weight, lam, mu)


@kernel
def lists_by_tree(
    first, last, lengths, queries, offsets, swap, force, by_rank,
    sigma, center, scores, gains, discounts, level_of, order, out_lam, out_mu,
):  # fmt: skip
    """λ and μ of some long queries, whose order by score is known."""
    for x in range(first, last):
        a, b = offsets[queries[x]], offsets[queries[x] + 1]
        n = b - a
        t, d = np.empty(n), np.empty(n)
        grade, document = np.empty(n, np.int8), np.empty(n, np.int32)
        gain_of_level = np.zeros(LEVELS, np.float32), np.zeros(LEVELS, np.float32)
        best = scores[a + order[a]]
        m = n_levels = 0
        for rank in range(n):
            i = order[a + rank]
            if level_of[a + i] >= 0:
                t[m] = sigma * (best - scores[a + i])
                d[m] = np.float64(discounts[0][rank]) + np.float64(discounts[1][rank])
                grade[m], document[m] = level_of[a + i], i
                for x in range(2):
                    gain_of_level[x][level_of[a + i]] = gains[x][a + i]
                n_levels = max(n_levels, level_of[a + i] + 1)
                m += 1
        weight = np.zeros((n_levels, n_levels))
        for i in range(n_levels):
            for j in range(n_levels):
                if i != j:
                    gain, rest = gain_of_level
                    weight[i, j] = abs(np.float64(gap(swap, gain[i], rest[i], gain[j], rest[j])))
        lam, mu = np.zeros(m), np.zeros(m)
        _one_list(swap, force, center, by_rank, t[:m], gain_of_level, d[:m], grade[:m], weight, lam, mu)
        for i in range(a, b):
            out_lam[i] = out_mu[i] = 0
        for i in range(m):
            out_lam[a + document[i]] = lam[i]
            out_mu[a + document[i]] = mu[i]


def worth_a_tree(q: Queries, levels: Levels, cutoff: int) -> NDArray[np.bool_]:
    """Which queries have so many pairs that the tree is faster; (n_queries,)."""
    # Their identity names the levels as long as they live, and what is kept holds them.
    key = ("worth a tree", id(levels.of_document), cutoff)
    return q.memo(key, lambda: (_worth_a_tree(q, levels, cutoff), levels))[0]


def _worth_a_tree(q: Queries, levels: Levels, cutoff: int) -> NDArray[np.bool_]:
    level_query = np.repeat(np.arange(q.n_queries), np.diff(levels.first))
    pairs = np.bincount(
        level_query,
        weights=(levels.end - levels.start).astype(np.float64) * (levels.run_end - levels.end),
        minlength=q.n_queries,
    ).astype(np.float64)  # counts of nothing come as integers
    sizes = q.sizes
    pairs *= np.minimum(1, 2 * cutoff / sizes)  # a pair needs a document above the cutoff
    # The tree knows one list of levels, each above all that follow.
    last_end = np.maximum.reduceat(np.append(levels.end, 0), np.minimum(levels.first[:-1], levels.end.size))
    whole = np.ones(q.n_queries, dtype=bool)
    np.logical_and.at(whole, level_query, levels.run_end == last_end[level_query])
    return whole & (np.diff(levels.first) <= LEVELS) & (pairs > PAIRS_A_DOCUMENT * sizes)
