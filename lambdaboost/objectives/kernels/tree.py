"""λ and μ over all pairs of one long list in near-linear time.

The 2006 paper's headline is how training time grows with the documents of a query: slope 1.943 for pairs, 1.185 for its
speed-up. Here it is 1: the force is a smooth function of the score difference, so between two runs of the sorted list
that lie side by side the sum over pairs is a smooth kernel sum. A binary tree cuts the list; sibling runs meet through
charges on a few Chebyshev points per grade, everything a document needs of a far run is one short expansion, and only
the pairs inside a leaf are computed as pairs. One rule for all pairs (i at an earlier rank than j, t = −σ·score):

    i better:  λ_i += w f(t_j − t_i),  λ_j −= w f(t_j − t_i)
    j better:  λ_j += w f(t_i − t_j),  λ_i −= w f(t_i − t_j),     w = A_ab Σ_k B_abk (D_ki − D_kj),

a and b the two grades. A discounted gain has one term D, the discount, and B = 1; RankNet has none, w = A; the pair
accuracy one for each grade (`swaps.pair_accuracy`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.exp import NOTHING, exp_minus, exp_minus_in_parts
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import curvature_of, force_of
from lambdaboost.objectives.kernels.pair_weight import (
    by_levels,
    gap,
    has_h,
    is_constant,
    of_differences,
    rank_terms,
    terms_of_level,
)
from lambdaboost.objectives.kernels.span import close_gaps, from_bits, is_wide, lowered, pad
from lambdaboost.objectives.kernels.tiles import (
    LANES,
    Columns,
    Rule,
    Side,
    carry,
    empty_columns,
    rows_by_columns,
)
from lambdaboost.objectives.kernels.two_floats import split_one

POINTS = 12  # Chebyshev points of a run: errors below 4e-7 for runs up to WIDTH
WIDTH = 4.0  # the widest run, in t, that meets another through its points; the force has poles at distance π
FAR = 40.0  # from here the force is constant to float64, however wide the runs
LEAF = 256  # documents whose pairs are computed one by one
# The tree is worth it for queries of more pairs a document than this, and of few levels, each of which has charges.
PAIRS_A_DOCUMENT = 1000
LEVELS = 16
LEVELS_OF_TERMS = (
    8  # where each level has a term: time and memory grow with the square of their number, and more
)

_U = (np.arange(POINTS) + 0.5) * np.pi / POINTS
X = np.cos(_U)  # the points on [−1, 1]
T = np.cos(np.outer(np.arange(POINTS), _U))  # T[k, u] = T_k(X[u])
# Charges at points from moments, values' coefficients from values at points: both are this matrix.
TO_POINTS = T * np.where(np.arange(POINTS) == 0, 1.0, 2.0)[:, None] / POINTS


class Documents(NamedTuple):
    """The labelled documents of a list by rank, and λ and μ so far."""

    t: Any  # σ(s_max − s), ascending
    d: Any  # (m, n_terms)
    grade: Any  # 0 best
    lam: Any
    mu: Any


class Weights(NamedTuple):
    """What weighs a pair by its two grades."""

    gains: Any  # by grade, as two floats
    a: Any  # A, (n_grades, n_grades)
    b: Any  # B, (n_grades, n_grades, n_terms)


class Nodes(NamedTuple):
    """Charges and fields of the tree's runs at their points; node 1 is the root, 2k and 2k + 1 the halves of k.

    charge[node, grade, 0] stands for Σ 1 of its documents, charge[node, grade, 1 + k] for Σ D_k. To the λ of a document
    of that grade all far runs add field[node, grade, 0] + Σ_k D_k field[node, grade, 1 + k]; the μ follow these.
    """

    leaves: Any
    charge: Any
    field: Any


@inlined
def _chebyshev(x, out):
    """T_0(x), …, T_{POINTS−1}(x)."""
    out[0] = 1.0
    out[1] = x
    for k in range(2, POINTS):
        out[k] = 2 * x * out[k - 1] - out[k - 2]


@inlined
def _boundary(node, m):
    """First and last + 1 document of a node."""
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
def _leaf_charges(docs, first, last, charge):
    """Charges of a leaf."""
    t, d, grade = docs.t, docs.d, docs.grade
    moments = np.zeros(charge.shape)
    basis = np.empty(POINTS)
    middle, half = _middle_half(t, first, last)
    for i in range(first, last):
        _chebyshev((t[i] - middle) / half, basis)
        for k in range(POINTS):
            moments[grade[i], 0, k] += basis[k]
        for term in range(d.shape[1]):
            for k in range(POINTS):
                moments[grade[i], 1 + term, k] += d[i, term] * basis[k]
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
def _add_fields(weights, b, downward, pulls, field):
    """Add what charges of grade b pull, pulls[moment] in right and in wrong order, λ and μ, to the fields of a run."""
    n_terms = weights.b.shape[2]
    # (D_i − D_j) is D − D′ for the run above and D′ − D for the run below.
    flip = -1.0 if n_terms > 0 and downward == 1 else 1.0
    for a in range(field.shape[0]):
        w = flip * weights.a[a, b]
        if w == 0:
            continue
        target_better = a < b
        # The pair is in the right order if the better document stands in the run above.
        x = 0 if target_better == (downward == 0) else 1
        sign = w if target_better else -w
        if n_terms == 0:
            for to in range(POINTS):
                field[a, 0, to] += sign * pulls[0, x, to]
                field[a, 1, to] += w * pulls[0, 2 + x, to]
        for k in range(n_terms):
            share = weights.b[a, b, k]
            if share != 0:
                for to in range(POINTS):
                    field[a, 0, to] -= sign * share * pulls[1 + k, x, to]
                    field[a, 1 + k, to] += sign * share * pulls[0, x, to]
                    field[a, 1 + n_terms, to] -= w * share * pulls[1 + k, 2 + x, to]
                    field[a, 2 + n_terms + k, to] += w * share * pulls[0, 2 + x, to]


@inlined
def _meet(rule, weights, nodes, above, below, points, work):
    """Two runs act on each other: charges at one's points become a field at the other's."""
    right, wrong, right_mu, wrong_mu, pulls = work
    for u in range(POINTS):
        for v in range(POINTS):
            o = points[1, v] - points[0, u]
            right[u, v], right_mu[u, v] = _force(rule.force, o, rule.center)
            wrong[u, v], wrong_mu[u, v] = _force(rule.force, -o, rule.center)
    for downward in range(2):
        source, target = (below, above) if downward == 0 else (above, below)
        for b in range(weights.a.shape[0]):
            charge = nodes.charge[source, b]
            if charge[0, 0] == 0 and charge[0, POINTS - 1] == 0:
                continue
            pulls[:] = 0
            for moment in range(charge.shape[0]):
                for u in range(POINTS):
                    for v in range(POINTS):
                        to, of = (u, v) if downward == 0 else (v, u)
                        c = charge[moment, of]
                        pulls[moment, 0, to] += right[u, v] * c
                        pulls[moment, 1, to] += wrong[u, v] * c
                        pulls[moment, 2, to] += right_mu[u, v] * c
                        pulls[moment, 3, to] += wrong_mu[u, v] * c
            _add_fields(weights, b, downward, pulls, nodes.field[target])


class Leaf(NamedTuple):
    """A run of documents level by level, as tiles read it."""

    side: Side
    start: Any  # of each level
    document: Any  # in each slot


@inlined
def _leaf(rule, weights, docs, run, from_t):
    """Lay the documents of a run out, E relative to `from_t`."""
    first, last = run
    capacity = LEAF + 2 * LANES
    t, d, grade, _, _ = docs
    gain_of, rest_of = weights.gains
    read = empty_columns(rule, capacity)
    start, document = np.zeros(weights.a.shape[0] + 1, np.int64), np.empty(capacity, np.int64)
    for i in range(first, last):
        start[grade[i] + 1] += 1
    for level in range(start.size - 1):
        start[level + 1] += start[level]
    following = start.copy()
    for i in range(first, last):
        slot = following[grade[i]]
        following[grade[i]] += 1
        document[slot] = i
        read.gain[slot], read.rest[slot] = gain_of[grade[i]], rest_of[grade[i]]
        if is_wide(rule.span):
            read.e[slot], k = exp_minus_in_parts(t[i] - from_t)
            read.k[slot] = from_bits(k)
        else:
            read.e[slot] = exp_minus(t[i] - from_t)
        if d.shape[1] == 1:
            read.d[slot], rest = split_one(d[i, 0])
            if has_h(rule.swap):
                read.h[slot] = rest
    pad(rule.span, read, last - first, last - first + LANES)
    sums = np.zeros(capacity, np.float32), np.zeros(capacity, np.float32)
    return Leaf(Side(read, sums, (np.zeros(capacity), np.zeros(capacity)), last - first), start, document)


@inlined
def _shifted(rule, leaf, t, from_t):
    """A leaf as rows: E times e^center."""
    if rule.center == 0:
        return leaf.side
    read, sums, totals, size = leaf.side
    e = np.zeros(read.e.size, np.float32)
    k = np.zeros(read.e.size, np.float32) if is_wide(rule.span) else e
    if is_wide(rule.span):
        for slot in range(size):
            e[slot], k_here = exp_minus_in_parts(t[leaf.document[slot]] - from_t - rule.center)
            k[slot] = from_bits(k_here)
    else:
        shift = np.float32(math.exp(rule.center))
        for slot in range(size):
            e[slot] = shift * read.e[slot]
    shifted = Columns(e, k, read.gain, read.rest, read.d, read.h, read.up, read.down)
    return Side(shifted, sums, totals, size)


@inlined
def _terms_to_slots(weights, a, b, d, leaf, level):
    """D of the documents of a level where levels a and b meet."""
    for slot in range(leaf.start[level], leaf.start[level + 1]):
        total = 0.0
        for k in range(d.shape[1]):
            total += weights.b[a, b, k] * d[leaf.document[slot], k]
        leaf.side.read.d[slot] = total


@inlined
def _levels_meet(rule, weights, docs, from_t, above, below):
    """Every level of the rows `above` against all worse levels of the columns `below`."""
    rows = _shifted(rule, above, docs.t, from_t)
    m = below.side.size
    for level in range(above.start.size - 1):
        first, last = above.start[level], above.start[level + 1]
        if first == last or below.start[level + 1] == m:
            continue
        if by_levels(rule.swap):
            for worse in range(level + 1, above.start.size - 1):
                lo, hi = below.start[worse], below.start[worse + 1]
                if lo < hi:
                    _terms_to_slots(weights, level, worse, docs.d, above, level)
                    _terms_to_slots(weights, level, worse, docs.d, below, worse)
                    rows_by_columns(rule, first, last, rows, lo, hi, below.side)
        else:
            rows_by_columns(rule, first, last, rows, below.start[level + 1], m, below.side)


@inlined
def _collect(span, leaf, docs):
    carry(leaf.side)
    for slot in range(leaf.side.size):
        docs.lam[leaf.document[slot]] += lowered(span, leaf.side.totals[0][slot])
        docs.mu[leaf.document[slot]] += lowered(span, leaf.side.totals[1][slot])


@inlined
def _near_pairs(rule, weights, docs, run, other):
    """All pairs of the documents of two runs, or of one with itself, as pairs."""
    from_t = docs.t[run[0]]
    alone = run[0] == other[0]
    above = _leaf(rule, weights, docs, run, from_t)
    below = above if alone else _leaf(rule, weights, docs, other, from_t)
    for turn in range(1 if alone else 2):
        rows, columns = (above, below) if turn == 0 else (below, above)
        _levels_meet(rule, weights, docs, from_t, rows, columns)
    _collect(rule.span, above, docs)
    if not alone:
        _collect(rule.span, below, docs)


@inlined
def _leaf_values(docs, first, last, field):
    """Add the field of a leaf to its documents."""
    t, d, grade, lam, mu = docs
    n_terms = d.shape[1]
    coefficients = np.zeros(field.shape)
    for a in range(field.shape[0]):
        for b in range(field.shape[1]):
            for u in range(POINTS):
                v = field[a, b, u]
                for k in range(POINTS):
                    coefficients[a, b, k] += v * TO_POINTS[k, u]
    basis = np.empty(POINTS)
    middle, half = _middle_half(t, first, last)
    for i in range(first, last):
        _chebyshev((t[i] - middle) / half, basis)
        c = coefficients[grade[i]]
        for moment in range(n_terms + 1):
            pull = curvature = 0.0
            for k in range(POINTS):
                pull += c[moment, k] * basis[k]
                curvature += c[n_terms + 1 + moment, k] * basis[k]
            share = d[i, moment - 1] if moment > 0 else 1.0
            lam[i] += share * pull
            mu[i] += share * curvature


@inlined
def _rise(docs, nodes):
    """Charges of all nodes, from the leaves up."""
    t, leaves, charge = docs.t, nodes.leaves, nodes.charge
    matrix = np.empty((POINTS, POINTS))
    for node in range(leaves, 2 * leaves):
        first, last = _boundary(node, t.size)
        _leaf_charges(docs, first, last, charge[node])
    for node in range(2 * leaves - 1, 3, -1):
        _child_to_parent(t, node, node // 2, t.size, matrix)
        _mapped(charge[node], matrix, charge[node // 2])


@inlined
def _meet_all(rule, weights, docs, nodes):
    """Every pair of runs once: siblings, cut down until both are narrow, or far apart, or leaves."""
    t, leaves = docs.t, nodes.leaves
    m = t.size
    square = (POINTS, POINTS)
    n_moments = docs.d.shape[1] + 1
    work = (
        np.empty(square),
        np.empty(square),
        np.empty(square),
        np.empty(square),
        np.empty((n_moments, 4, POINTS)),
    )
    points = np.empty((2, POINTS))
    close = [(node, node) for node in range(leaves, 2 * leaves)]
    pending = [(2 * node, 2 * node + 1) for node in range(1, leaves)]
    while len(pending) > 0:
        above, below = pending.pop()
        a0, a1 = _boundary(above, m)
        b0, b1 = _boundary(below, m)
        above_width, below_width = t[a1 - 1] - t[a0], t[b1 - 1] - t[b0]
        if max(above_width, below_width) <= WIDTH or t[b0] - t[a1 - 1] >= FAR + abs(rule.center):
            middle, half = _middle_half(t, a0, a1)
            points[0] = middle + half * X
            middle, half = _middle_half(t, b0, b1)
            points[1] = middle + half * X
            _meet(rule, weights, nodes, above, below, points, work)
        elif above < leaves and (above_width >= below_width or below >= leaves):
            pending.append((2 * above, below))
            pending.append((2 * above + 1, below))
        elif below < leaves:
            pending.append((above, 2 * below))
            pending.append((above, 2 * below + 1))
        else:
            close.append((above, below))
    for above, below in close:
        _near_pairs(rule, weights, docs, _boundary(above, m), _boundary(below, m))


@inlined
def _descend(t, nodes):
    """Hand every node's field down to its children."""
    leaves, field = nodes.leaves, nodes.field
    matrix = np.empty((POINTS, POINTS))
    for node in range(4, 2 * leaves):
        _child_to_parent(t, node, node // 2, t.size, matrix)
        for a in range(field.shape[1]):
            for b in range(field.shape[2]):
                for u in range(POINTS):
                    total = 0.0
                    for v in range(POINTS):
                        total += matrix[u, v] * field[node // 2, a, b, v]
                    field[node, a, b, u] += total


@inlined
def _one_list(rule, weights, docs):
    """Add the pairs of one list."""
    m, n_moments, n_grades = docs.t.size, docs.d.shape[1] + 1, weights.a.shape[0]
    leaves = 1
    while m > LEAF * leaves:
        leaves *= 2
    nodes = Nodes(
        leaves,
        np.zeros((2 * leaves, n_grades, n_moments, POINTS)),
        np.zeros((2 * leaves, n_grades, 2 * n_moments, POINTS)),
    )
    _rise(docs, nodes)
    _meet_all(rule, weights, docs, nodes)
    _descend(docs.t, nodes)
    for node in range(leaves, 2 * leaves):
        a, b = _boundary(node, m)
        _leaf_values(docs, a, b, nodes.field[node])


@inlined
def _weights(swap, gains, n_terms):
    """A and B of all pairs of grades."""
    gain, rest = gains
    n = gain.size
    a, b = np.zeros((n, n)), np.ones((n, n, n_terms))
    for i in range(n):
        for j in range(n):
            if i != j:
                a[i, j] = abs(np.float64(gap(swap, gain[i], rest[i], gain[j], rest[j])))
            if by_levels(swap):
                b[i, j] = 0
                b[i, j, max(i, j)] = 1
                b[i, j, min(i, j)] -= 1
    return Weights(gains, a, b)


@kernel
def _block_of_lists(first, last, lengths, lists, pairs, ranking, level_of, out):
    """λ and μ of some long queries, whose order by score is known."""
    queries, offsets = lists
    weights, loss, span = pairs
    swap, gains, discounts, cutoff, factors = weights
    rule = Rule(swap, factors, loss.force, span, loss.sigma, loss.center)
    scores, order = ranking
    for x in range(first, last):
        a, b = offsets[queries[x]], offsets[queries[x] + 1]
        n = b - a
        ranked = np.empty(n)
        for rank in range(n):
            ranked[rank] = scores[a + order[a + rank]]
        if is_wide(span):
            close_gaps(ranked, loss.sigma)
        n_levels = 0
        for i in range(a, b):
            n_levels = max(n_levels, level_of[i] + 1)
        n_terms = 0 if is_constant(swap) else (n_levels if by_levels(swap) else 1)
        t, d, grade, document = (
            np.empty(n),
            np.zeros((n, n_terms)),
            np.empty(n, np.int8),
            np.empty(n, np.int32),
        )
        gain_of_level = np.zeros(n_levels, np.float32), np.zeros(n_levels, np.float32)
        d_of_rank, h_of_rank, _ = rank_terms(
            swap,
            a,
            gains[0][a:b],
            order[a:b],
            discounts,
            cutoff,
            np.empty(n, np.float32),
            np.empty(n, np.float32),
        )
        m = 0
        for rank in range(n):
            i = order[a + rank]
            level = level_of[a + i]
            if level >= 0:
                t[m] = -ranked[rank] if is_wide(span) else loss.sigma * (ranked[0] - ranked[rank])
                grade[m], document[m] = level, i
                gain_of_level[0][level], gain_of_level[1][level] = gains[0][a + i], gains[1][a + i]
                if of_differences(swap):
                    d[m, 0] = np.float64(d_of_rank[rank]) + np.float64(h_of_rank[rank])
                m += 1
        if by_levels(swap):
            now, by_rank = np.empty(m, np.float32), np.arange(m)
            for level in range(n_levels):
                terms_of_level(swap, level, by_rank, grade, now)
                d[:m, level] = now
        docs = Documents(t[:m], d[:m], grade[:m], np.zeros(m), np.zeros(m))
        _one_list(rule, _weights(swap, gain_of_level, n_terms), docs)
        for i in range(a, b):
            out[0][i] = out[1][i] = 0
        for i in range(m):
            out[0][a + document[i]], out[1][a + document[i]] = docs.lam[i], docs.mu[i]


def lists_by_tree(
    scores: NDArray[np.float64],
    q: Queries,
    queries: NDArray[np.int64],
    levels: Levels,
    pairs: Any,
    order: NDArray[np.int32],
    out: tuple[NDArray[np.float32], NDArray[np.float32]],
) -> None:
    """Write λ and μ of some queries to `out`, by their `order`; `pairs` are weights, loss and span."""
    lengths = np.append(0, np.cumsum(q.sizes[queries]))
    lists = queries, q.offsets
    over_queries(_block_of_lists, lengths, lists, pairs, (scores, order), levels.of_document, out)


def worth_a_tree(q: Queries, levels: Levels, cutoff: int, most_levels: int = LEVELS) -> NDArray[np.bool_]:
    """Which queries have enough pairs, and few enough levels, for the tree to be faster; (n_queries,)."""
    # Their identity names the levels as long as they live, and what is kept holds them.
    key = ("worth a tree", id(levels.of_document), cutoff, most_levels)
    return q.memo(key, lambda: (_worth_a_tree(q, levels, cutoff, most_levels), levels))[0]


def _worth_a_tree(q: Queries, levels: Levels, cutoff: int, most_levels: int) -> NDArray[np.bool_]:
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
    return whole & (np.diff(levels.first) <= most_levels) & (pairs > PAIRS_A_DOCUMENT * sizes)
