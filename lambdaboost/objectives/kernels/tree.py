"""λ and μ over all pairs of one long list in near-linear time.

The 2006 paper's headline is how training time grows with the documents of a query: slope 1.943 for pairs, 1.185 for its
speed-up. Here it is 1: the force is a smooth function of the score difference, so between two runs of the sorted list
that lie side by side the sum over pairs is a smooth kernel sum. A binary tree cuts the list; sibling runs meet through
charges on a few Chebyshev points per grade, everything a document needs of a far run is one short expansion, and only
the pairs inside a leaf are computed as pairs. One rule for all pairs (i at an earlier rank than j, t = −σ·score):

    i better:  λ_i += w f(t_j − t_i),  λ_j −= w f(t_j − t_i)
    j better:  λ_j += w f(t_i − t_j),  λ_i −= w f(t_i − t_j),     w = A_ab Σ_k B_abk (D_ki − D_kj),

a the grade of i and b that of j. A discounted gain has one term D, the discount, and B = 1; RankNet has none, w = A;
average precision has two, the pair accuracy one for each grade. A swap's `tree_delta` says which.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import RANGE, Loss, logistic, pushes, write_e
from lambdaboost.objectives.kernels.pair_weight import (
    Document,
    PairWeights,
    Ranked,
    Unfactored,
    by_levels,
    gain_delta,
    n_terms_of,
    rank_terms,
    tree_delta,
)
from lambdaboost.objectives.kernels.query import Lists
from lambdaboost.objectives.kernels.tiles import (
    GAIN,
    PADDING,
    D,
    E,
    H,
    Rule,
    carry,
    rows_by_columns,
    run_of,
    whole_vectors,
)

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


GAP = 256.0  # neighbours farther apart in t are brought as near: in their pairs ρ is 0 or 1 either way


class Documents(NamedTuple):
    """The labelled documents of a list by rank, and λ and μ so far."""

    t: Any  # σ(s_max − s), ascending
    terms: Any  # D, (m, n_terms)
    d: Any
    h: Any
    grade: Any  # 0 best
    document: Any
    lam: Any
    mu: Any


class Weights(NamedTuple):
    """What weighs a pair by the grade of its upper and that of its lower document."""

    gain: Any  # by grade
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
    t, d, grade = docs.t, docs.terms, docs.grade
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
def _add_fields(weights, b, downward, pulls, field):
    """Add what charges of grade b pull, pulls[moment] in right and in wrong order, λ and μ, to the fields of a run."""
    n_terms = weights.b.shape[2]
    # (D_i − D_j) is D − D′ for the run above and D′ − D for the run below.
    flip = -1.0 if n_terms > 0 and downward == 1 else 1.0
    for a in range(field.shape[0]):
        upper, lower = (a, b) if downward == 0 else (b, a)
        w = flip * weights.a[upper, lower]
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
            share = weights.b[upper, lower, k]
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
            rho, rest = logistic(o + rule.chance.center)
            right[u, v], right_mu[u, v] = pushes(rule.force, rho, rho, rest)
            rho, rest = logistic(rule.chance.center - o)
            wrong[u, v], wrong_mu[u, v] = pushes(rule.force, rho, rho, rest)
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

    slots: Any
    totals: Any
    start: Any  # of each level
    rank: Any  # in `Documents`, of each slot


@inlined
def _leaf(weights, docs, run):
    """Lay the documents of a run out, all but E and d."""
    first, last = run
    slots, rank = np.zeros((8, LEAF + 2 * PADDING), np.float32), np.empty(last - first, np.int64)
    start = np.zeros(weights.a.shape[0] + 1, np.int64)
    for i in range(first, last):
        start[docs.grade[i] + 1] += 1
    for level in range(start.size - 1):
        start[level + 1] += start[level]
    following = start.copy()
    for i in range(first, last):
        slot = following[docs.grade[i]]
        following[docs.grade[i]] += 1
        rank[slot], slots[GAIN, slot], slots[H, slot] = i, weights.gain[docs.grade[i]], docs.h[i]
    return Leaf(slots, np.zeros((2, last - first)), start, rank)


@uncounted
def _d_of_levels(weights, docs, leaf, level, pair):
    """D of the documents of a level of a leaf where two levels meet."""
    for slot in range(leaf.start[level], leaf.start[level + 1]):
        total = 0.0
        for k in range(docs.terms.shape[1]):
            total += weights.b[pair[0], pair[1], k] * docs.terms[leaf.rank[slot], k]
        leaf.slots[D, slot] = total


@uncounted
def _levels_meet(rule, weights, docs, above, below):
    """Every level of the rows `above` against all worse levels of the columns `below`."""
    m = below.rank.size
    for level in range(above.start.size - 1):
        rows, lo = run_of(above.slots, above.start[level], above.start[level + 1]), below.start[level + 1]
        if rows.e.size == 0 or lo == m:
            continue
        if by_levels(rule.swap):
            for other in range(level + 1, above.start.size - 1):
                run = below.start[other], below.start[other + 1]
                if run[0] < run[1]:
                    _d_of_levels(weights, docs, above, level, (level, other))
                    _d_of_levels(weights, docs, below, other, (level, other))
                    rows_by_columns(rule, rows, run_of(below.slots, run[0], run[1]))
        else:
            rows_by_columns(rule, rows, run_of(below.slots, lo, whole_vectors(lo, m, m)))


@inlined
def _collect(leaf, docs):
    carry(leaf.slots, leaf.totals, leaf.rank.size)
    for slot in range(leaf.rank.size):
        docs.lam[leaf.rank[slot]] += leaf.totals[0, slot]
        docs.mu[leaf.rank[slot]] += leaf.totals[1, slot]


@inlined
def _far_pairs(rule, weights, docs, run, other):
    """All pairs of two runs, or of one with itself, whose t lie too far apart for tiles."""
    for i in range(run[0], run[1]):
        for j in range(max(i + 1, other[0]), other[1]):
            a, b = docs.grade[i], docs.grade[j]
            w = weights.a[a, b] if docs.terms.shape[1] == 0 else 0.0
            for k in range(docs.terms.shape[1]):
                w += weights.a[a, b] * weights.b[a, b, k] * (docs.terms[i, k] - docs.terms[j, k])
            sign = 1.0 if a < b else -1.0
            rho, rest = logistic(sign * (docs.t[j] - docs.t[i]) + rule.chance.center)
            f, c = pushes(rule.force, w * rho, rho, rest)
            docs.lam[i] += sign * f
            docs.lam[j] -= sign * f
            docs.mu[i] += c
            docs.mu[j] += c


@inlined
def _near_pairs(rule, weights, docs, run, other):
    """All pairs of the documents of two runs, or of one with itself, as pairs."""
    from_t, to_t = docs.t[run[0]], docs.t[other[1] - 1]
    if to_t - from_t + abs(rule.chance.center) > RANGE:
        _far_pairs(rule, weights, docs, run, other)
        return
    above = _leaf(weights, docs, run)
    below = above if run[0] == other[0] else _leaf(weights, docs, other)
    score = np.empty(LEAF)
    sigma = rule.chance.sigma if rule.chance.sigma > 0 else 1.0  # at σ = 0 every t is 0
    for leaf in (above, below):
        for slot in range(leaf.rank.size):
            i = leaf.rank[slot]
            # Near the last of both runs, whose differences are the smallest, a float32 holds d best.
            leaf.slots[D, slot], score[slot] = (
                docs.d[i] - docs.d[other[1] - 1],
                -docs.t[i] / sigma,
            )
        ends = -from_t / sigma, -to_t / sigma
        write_e(rule.chance, ends[0], ends[1], score[: leaf.rank.size], leaf.slots[E])
    _levels_meet(rule, weights, docs, above, below)
    if run[0] != other[0]:
        _levels_meet(rule, weights, docs, below, above)
        _collect(below, docs)
    _collect(above, docs)


@inlined
def _leaf_values(docs, first, last, field):
    """Add the field of a leaf to its documents."""
    t, d, grade, lam, mu = docs.t, docs.terms, docs.grade, docs.lam, docs.mu
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
    n_moments = docs.terms.shape[1] + 1
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
        if max(above_width, below_width) <= WIDTH or t[b0] - t[a1 - 1] >= FAR + abs(rule.chance.center):
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
    m, n_moments, n_grades = docs.t.size, docs.terms.shape[1] + 1, weights.a.shape[0]
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
def _weights(swap, gain, h_of_level, n_terms):
    """A and B of all pairs of grades, the upper document's first."""
    n = gain.size
    a, b = np.zeros((n, n)), np.zeros((n, n, n_terms))
    for upper in range(n):
        for lower in range(n):
            if upper != lower:
                i, j = Document(0.0, gain[upper], 0.0, 0.0, 0.0), Document(0.0, gain[lower], 0.0, 0.0, 0.0)
                of_terms = tree_delta(swap, upper, lower, h_of_level, b[upper, lower])
                a[upper, lower] = abs(gain_delta(swap, i, j)) * of_terms
    return Weights(gain, a, b)


@inlined
def _documents(weights, sigma, lists, q):
    """The labelled documents of a query by rank, and the gain and h of each level."""
    offsets, levels, scores, order = lists
    swap, a, b = weights.swap, offsets[q], offsets[q + 1]
    n, n_levels = b - a, levels.first[q + 1] - levels.first[q]
    d, h = np.zeros(n), np.zeros(n)
    rank_terms(swap, Ranked(a, order[a:b], weights.gains[a:b], weights.discounts, weights.cutoff), d, h)
    n_terms = n_levels if by_levels(swap) else n_terms_of(swap)
    figures, terms = np.zeros((5, n)), np.zeros((n, n_terms))
    grade, document = np.empty(n, np.int8), np.empty(n, np.int32)
    h_of_level = np.zeros(n_levels)
    m, t, before = 0, 0.0, scores[a + order[a]]
    for rank in range(n):
        i = a + order[a + rank]
        # Neighbours far apart are brought nearer, so that one score of 1e20 leaves the others their digits.
        t += min(sigma * (before - scores[i]), GAP)
        before, level = scores[i], levels.of_document[i]
        if level >= 0:
            figures[0, m], figures[1, m], figures[2, m] = t, d[rank], h[rank]
            grade[m], document[m], h_of_level[level] = level, i, h[rank]
            if n_terms_of(swap) > 0:
                terms[m, 0] = d[rank]
            if n_terms_of(swap) > 1:
                terms[m, 1] = h[rank]
            m += 1
    if by_levels(swap):
        by_rank = np.arange(m)
        for level in range(n_levels):
            terms_of_level(level, by_rank, grade, figures[3])
            for i in range(m):
                terms[i, level] = figures[3, i]
    figures[3] = 0
    docs = Documents(
        figures[0, :m], terms[:m], figures[1, :m], figures[2, :m], grade[:m], document[:m], figures[3, :m],
        figures[4, :m],
    )  # fmt: skip
    return docs, h_of_level


@uncounted
def terms_of_level(a, by_rank, level, out):
    """Write V of level a (`swaps.pair_accuracy`) at the rank of every slot; `by_rank` are the slots by rank."""
    v = 0
    for x in range(by_rank.size):
        of = level[by_rank[x]]
        v += int(of > a) + int(of >= a)
        out[by_rank[x]] = v


@kernel
def block_of_lists(first, last, lengths, lists, pairs, out):
    """λ and μ of some long queries; `lists` are these, offsets, levels, the gain of each, the scores and the order."""
    queries, offsets, levels, gain, scores, order = lists
    weights, rule = pairs
    for x in range(first, last):
        q = queries[x]
        docs, h_of_level = _documents(weights, rule.chance.sigma, (offsets, levels, scores, order), q)
        gain_here = gain[levels.first[q] : levels.first[q + 1]]
        _one_list(rule, _weights(rule.swap, gain_here, h_of_level, docs.terms.shape[1]), docs)
        for i in range(offsets[q], offsets[q + 1]):
            out[0, i] = out[1, i] = 0
        for i in range(docs.t.size):
            out[0, docs.document[i]], out[1, docs.document[i]] = docs.lam[i], docs.mu[i]


def lists_by_tree(
    wanted: NDArray[np.bool_], lists: Lists, weights: PairWeights, loss: Loss, out: Any
) -> None:
    """Write λ and μ of the queries that are wanted."""
    levels, queries = lists.levels, np.flatnonzero(wanted)
    lengths = np.append(0, np.cumsum(np.diff(levels.offsets)[queries]))
    rule = Rule(weights.swap, weights.factors, loss.force, loss.chance)
    of_lists = queries, levels.offsets, levels, lists.gain, lists.scores, lists.by_score
    over_queries(block_of_lists, lengths, of_lists, (weights, rule), out)


def worth_a_tree(q: Queries, of: Levels, weights: PairWeights) -> NDArray[np.bool_]:
    """Which queries have enough pairs, and few enough levels, for the tree to be faster; (n_queries,)."""
    traits = weights.swap.traits
    if traits.n_terms is None or not isinstance(weights.factors, Unfactored):
        return np.zeros(q.n_queries, dtype=bool)  # the tree sums runs of documents that count alike
    n_levels = np.diff(of.first)
    # A pair needs a document above the cutoff.
    pairs = of.pairs() * np.minimum(1, 2 * weights.cutoff / q.sizes)
    # The tree knows one list of levels, each above all that follow.
    whole = np.ones(q.n_queries, dtype=bool)
    np.logical_and.at(whole, of.query(), of.reach == n_levels[of.query()])
    few = n_levels <= (LEVELS_OF_TERMS if traits.by_levels else LEVELS)
    worth: NDArray[np.bool_] = whole & few & (pairs > PAIRS_A_DOCUMENT * q.sizes)
    return worth
