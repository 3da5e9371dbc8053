"""λ and μ over all pairs of one long list in near-linear time.

The 2006 paper's headline is how training time grows with the documents of a query: slope 1.943 for pairs, 1.185 for its
speed-up. Here it is 1: the force is a smooth function of the score difference, so that between two runs of the sorted
list it is interpolated from a few Chebyshev points of each:

    f(s_i − s_j) ≈ Σ_u Σ_v ℓ_u(s_i) f(x_u − x_v) ℓ_v(s_j),      ℓ_u the Lagrange polynomial of point x_u.

A binary tree cuts the list. The documents of a run become *moments* at its points, Σ_j ℓ_v(s_j). The moments of one run
give a *local expansion* at the points of another, which a document evaluates by its own ℓ_u. Only pairs of neighbouring
leaves are summed as pairs, by tiles.

The weight of a pair is a bilinear form of the values D of the upper and of the lower rank, D_0 = 1:

    w = Σ_kl W_kl D_k(upper) D_l(lower)         W by the level of the upper document and that of the lower.

A discounted gain has D_1, the discount, W_10 = −W_01 = |ΔG|; RankNet has W_00 = 1; average precision has two values. A
swap's `tree_terms` says which. So each level and each D has its moments and
local expansions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.sigmoid import (
    FLOAT32_ZERO,
    FLOAT64_NORMAL,
    RATIO_RANGE,
    curvature,
    logistic,
    pair_lambdas,
    write_e,
)
from lambdaboost.objectives.kernels.tiles import (
    DISCOUNT,
    FACTOR,
    GAIN,
    GAIN_REST,
    LAM,
    MU,
    N_FIGURES,
    PADDING,
    SECOND,
    E,
    Lists,
    PairFormula,
    padded_end,
    rows_by_columns,
    run_of,
)
from lambdaboost.objectives.swaps.swap import Document, gain_delta, rank_terms, split_gain, tree_terms

N_POINTS = 12  # Chebyshev points of a run: errors below 4e-7 for runs up to WIDTH
WIDTH = 4.0  # the widest run, in σs, that interacts with another through its points; the force has poles at distance π
LEAF = 256  # documents whose pairs are computed one by one
WIDEST_GAP = 256.0  # wider gaps between neighbours in σs are narrowed to this: ρ is 0 or 1 either way
DEPTH = 64  # pairs of runs that wait to be cut: fewer than two for each level of the tree
# The tree is worth it for queries of more pairs a document than this, and of few levels, each of which has moments.
PAIRS_A_DOCUMENT = 1000
LEVELS = 16

UPPER, LOWER = BETTER, WORSE = OF_LAM, OF_MU = 0, 1  # indices of `TreeWork.translation`

X = np.cos((np.arange(N_POINTS) + 0.5) * np.pi / N_POINTS)  # the points on [−1, 1]
SCALE = 1 / np.prod(X[:, None] - X + np.eye(N_POINTS), axis=1)  # ℓ_u(x) = SCALE_u Π_{v≠u} (x − x_v)


class Documents(NamedTuple):
    """The labelled documents of a list by rank, and λ and μ so far."""

    s: Any  # σ·score, up to a constant
    level: Any
    document: Any  # counted within the query
    discount: Any  # (n,) by rank, of unlabelled documents too, then of the labelled ones
    second: Any
    terms: Any  # (m, n_terms) D
    sums: Any  # (2, m) λ and μ


class Weights(NamedTuple):
    """What weights a pair, by the levels of its documents."""

    gain: Any  # (n_levels,)
    second: Any  # (n_levels,)
    # (2, n_levels, n_levels, n_terms, n_terms) W: by_upper[a, b, k, l] multiplies D_k of an upper document of level a
    # and D_l of a lower of level b, by_lower[a, b, k, l] D_k of a lower of level a and D_l of an upper of level b.
    by_upper: Any
    by_lower: Any


class Runs(NamedTuple):
    """The runs of the tree, from the second half on its leaves: run 1 is the list, 2k and 2k + 1 are halves of k."""

    bounds: Any  # (n_runs, 2) the first document and the one after the last
    middle: Any  # (n_runs,) of the scores
    half: Any  # (n_runs,) how far they reach to both sides, never 0
    moments: Any  # (n_runs, n_levels, n_terms, N_POINTS)
    local_expansion: Any  # (n_runs, n_levels, 2, n_terms, N_POINTS) of λ and of μ, each to be multiplied by D


class TreeWork(NamedTuple):
    """Memory for what is used at once."""

    at_points: Any  # (N_POINTS,) the Lagrange polynomials at some place
    # (2, 2, 2, N_POINTS, N_POINTS) by run, UPPER or LOWER; role, BETTER or WORSE; OF_LAM or OF_MU; the point of the run
    # and that of the other one: what a document there gets by one there.
    translation: Any
    mixed_moments: Any  # (n_terms, N_POINTS) moments of all levels that pair with a level
    pending: Any  # (DEPTH, 2) runs that have not interacted yet
    slots: Any  # (2, N_FIGURES, …) of two leaves, level by level, as tiles read them
    start: Any  # (2, n_levels + 1) of each level
    rank: Any  # (2, LEAF) in `Documents`, of each slot
    scores: Any  # (LEAF,)


def _allocate(n: int, m: int, gain: Any, n_terms: int) -> tuple[Documents, Weights, Runs, TreeWork]:
    """For a list of n documents, m of them with a label, whose levels have these gains."""
    n_levels, n_runs = gain.size, 2 << max(0, -(-m // LEAF) - 1).bit_length()
    docs = Documents(
        np.empty(m), np.empty(m, np.int32), np.empty(m, np.int32), np.zeros(n), np.zeros(n), np.empty((m, n_terms)),
        np.zeros((2, m)),
    )  # fmt: skip
    by_upper, by_lower = np.zeros((2, n_levels, n_levels, n_terms, n_terms))
    weights = Weights(gain, np.zeros(n_levels), by_upper, by_lower)
    runs = Runs(
        np.empty((n_runs, 2), np.int64), np.empty(n_runs), np.empty(n_runs),
        np.zeros((n_runs, n_levels, n_terms, N_POINTS)), np.zeros((n_runs, n_levels, 2, n_terms, N_POINTS)),
    )  # fmt: skip
    work = TreeWork(
        np.empty(N_POINTS), np.empty((2, 2, 2, N_POINTS, N_POINTS)), np.empty((n_terms, N_POINTS)),
        np.empty((DEPTH, 2), np.int64), np.zeros((2, N_FIGURES, LEAF + 2 * PADDING), np.float32),
        np.empty((2, n_levels + 1), np.int64), np.empty((2, LEAF), np.int64), np.empty(LEAF),
    )  # fmt: skip
    work.slots[:, FACTOR] = 1
    return docs, weights, runs, work


@inlined
def _read_documents(swap, first, by_rank, fallen, level_of, docs):
    """Fill all but the sums."""
    rank_terms(swap, first, by_rank, docs.discount, docs.second)
    m = 0
    for rank in range(by_rank.size):
        i = by_rank[rank]
        if level_of[i] >= 0:
            docs.s[m], docs.level[m], docs.document[m] = -fallen[rank], level_of[i], i
            docs.discount[m], docs.second[m] = docs.discount[rank], docs.second[rank]
            m += 1
    _fill_terms(swap, docs)


@inlined
def _fill_terms(swap, docs):
    """D of every document: 1, then its discount and its second term."""
    m, n_terms = docs.terms.shape
    for i in range(m):
        docs.terms[i, 0] = 1
        if n_terms > 1:
            docs.terms[i, 1] = docs.discount[i]
        if n_terms > 2:
            docs.terms[i, 2] = docs.second[i]


@inlined
def _weigh_levels(swap, docs, weights):
    """Fill the second terms and W."""
    gain, n_levels, n_terms = weights.gain, weights.gain.size, docs.terms.shape[1]
    for i in range(docs.s.size):
        weights.second[docs.level[i]] = docs.second[i]
    for upper in range(n_levels):
        for lower in range(n_levels):
            if upper == lower:
                continue
            i, j = (
                Document(0.0, gain[upper], 0.0, 0.0, 0.0, 0.0),
                Document(0.0, gain[lower], 0.0, 0.0, 0.0, 0.0),
            )
            w, by_upper = abs(gain_delta(swap, i, j)), weights.by_upper[upper, lower]
            tree_terms(swap, upper, lower, weights.second, by_upper[:, 0])
            for k in range(n_terms):
                by_upper[k, 0] *= w
                if k > 0:
                    by_upper[0, k] = -by_upper[k, 0]
            for k in range(n_terms):
                for l in range(n_terms):
                    weights.by_lower[lower, upper, l, k] = by_upper[k, l]


@inlined
def _split_runs(docs, runs):
    """Where each run begins and ends."""
    m = docs.s.size
    for run in range(1, runs.middle.size):
        n = 1  # runs as deep as this one
        while 2 * n <= run:
            n *= 2
        first, last = m * (run - n) // n, m * (run - n + 1) // n
        runs.bounds[run, 0], runs.bounds[run, 1] = first, last
        runs.middle[run] = 0.5 * (docs.s[first] + docs.s[last - 1])
        runs.half[run] = max(0.5 * (docs.s[first] - docs.s[last - 1]), 1e-9)


@inlined
def _lagrange(runs, run, s, out):
    """Write ℓ_u(s) of every point of a run."""
    x = (s - runs.middle[run]) / runs.half[run]
    product = 1.0
    for u in range(N_POINTS):
        out[u] = SCALE[u] * product
        product *= x - X[u]
    product = 1.0
    for u in range(N_POINTS - 1, -1, -1):
        out[u] *= product
        product *= x - X[u]


@inlined
def _compute_moments(docs, runs, at_points):
    """Compute the moments of all runs, from the leaves up."""
    n_runs, n_levels, n_terms, _ = runs.moments.shape
    for leaf in range(n_runs // 2, n_runs):
        for i in range(runs.bounds[leaf, 0], runs.bounds[leaf, 1]):
            _lagrange(runs, leaf, docs.s[i], at_points)
            for k in range(n_terms):
                for u in range(N_POINTS):
                    runs.moments[leaf, docs.level[i], k, u] += docs.terms[i, k] * at_points[u]
    for run in range(n_runs - 1, 3, -1):
        for v in range(N_POINTS):
            _lagrange(runs, run // 2, runs.middle[run] + runs.half[run] * X[v], at_points)
            for level in range(n_levels):
                for k in range(n_terms):
                    for u in range(N_POINTS):
                        runs.moments[run // 2, level, k, u] += runs.moments[run, level, k, v] * at_points[u]


@inlined
def _evaluate_local_expansions(docs, runs, at_points):
    """Pass the local expansions down to the leaves, and add their values to the sums."""
    n_runs, n_levels, n_terms, _ = runs.moments.shape
    for run in range(4, n_runs):
        for v in range(N_POINTS):
            _lagrange(runs, run // 2, runs.middle[run] + runs.half[run] * X[v], at_points)
            for level in range(n_levels):
                for x in range(2):
                    for k in range(n_terms):
                        total = 0.0
                        for u in range(N_POINTS):
                            total += runs.local_expansion[run // 2, level, x, k, u] * at_points[u]
                        runs.local_expansion[run, level, x, k, v] += total
    for leaf in range(n_runs // 2, n_runs):
        for i in range(runs.bounds[leaf, 0], runs.bounds[leaf, 1]):
            _lagrange(runs, leaf, docs.s[i], at_points)
            for x in range(2):
                for k in range(n_terms):
                    total = 0.0
                    for u in range(N_POINTS):
                        total += runs.local_expansion[leaf, docs.level[i], x, k, u] * at_points[u]
                    docs.sums[x, i] += docs.terms[i, k] * total


@inlined
def _interact_by_points(formula, weights, runs, pair, is_far, work):
    """Turn the moments of each of two runs into a local expansion at the points of the other.

    However wide runs are that lie far apart, the force is the same for all their documents.
    """
    upper, lower = pair
    at_points = work.translation
    for u in range(N_POINTS):
        for v in range(N_POINTS):
            o = runs.middle[upper] + runs.half[upper] * X[u] - (runs.middle[lower] + runs.half[lower] * X[v])
            o = FLOAT64_NORMAL if is_far else o
            rho, rest = logistic(o + formula.sigmoid.center)  # where the upper document is the better
            f, c = pair_lambdas(formula.force, rho, rho, rest)
            at_points[UPPER, BETTER, OF_LAM, u, v], at_points[LOWER, WORSE, OF_LAM, v, u] = f, -f
            at_points[UPPER, BETTER, OF_MU, u, v] = at_points[LOWER, WORSE, OF_MU, v, u] = c
            rho, rest = logistic(formula.sigmoid.center - o)
            f, c = pair_lambdas(formula.force, rho, rho, rest)
            at_points[UPPER, WORSE, OF_LAM, u, v], at_points[LOWER, BETTER, OF_LAM, v, u] = -f, f
            at_points[UPPER, WORSE, OF_MU, u, v] = at_points[LOWER, BETTER, OF_MU, v, u] = c
    moments, local, mixed = runs.moments, runs.local_expansion, work.mixed_moments
    _translate_moments(weights.by_upper, at_points[UPPER], moments[lower], local[upper], mixed)
    _translate_moments(weights.by_lower, at_points[LOWER], moments[upper], local[lower], mixed)


@inlined
def _translate_moments(weights, at_points, moments, local_expansion, mixed):
    """Add the moments of a run, translated, to the local expansion of another."""
    n_levels, n_terms, _ = moments.shape
    for level in range(n_levels):
        for role in range(2):
            # The better of their pairs with all worse levels, then the worse of those with all better ones.
            first, last = (level + 1, n_levels) if role == BETTER else (0, level)
            mixed[:] = 0
            for other in range(first, last):
                for k in range(n_terms):
                    for l in range(n_terms if k == 0 else 1):  # the others of W are 0
                        w = weights[level, other, k, l]
                        if w != 0:
                            for v in range(N_POINTS):
                                mixed[k, v] += w * moments[other, l, v]
            for k in range(n_terms):
                if mixed[k, 0] != 0 or mixed[k, N_POINTS - 1] != 0:
                    for derivative in range(2):
                        for u in range(N_POINTS):
                            total = 0.0
                            for v in range(N_POINTS):
                                total += at_points[role, derivative, u, v] * mixed[k, v]
                            local_expansion[level, derivative, k, u] += total


@inlined
def _interact_all(formula, weights, docs, runs, work):
    """Let every pair of runs interact once: leaves with themselves, halves until narrow, far apart or leaves."""
    n_runs = runs.middle.size
    middle, half, pending = runs.middle, runs.half, work.pending
    for run in range(1, n_runs):
        n, pending[0, 0], pending[0, 1] = 1, run, run
        if 2 * run < n_runs:
            pending[0, 0], pending[0, 1] = 2 * run, 2 * run + 1
        while n > 0:
            n -= 1
            a, b = pending[n, 0], pending[n, 1]
            apart = (middle[a] - half[a]) - (middle[b] + half[b])
            is_far = apart >= FLOAT32_ZERO + abs(formula.sigmoid.center)
            if a != b and (is_far or 2 * max(half[a], half[b]) <= WIDTH):
                _interact_by_points(formula, weights, runs, (a, b), is_far, work)
            elif 2 * min(a, b) >= n_runs:
                _interact_by_pairs(formula, weights, docs, runs.bounds, (a, b), work)
            else:
                cut_a = 2 * b >= n_runs or (2 * a < n_runs and half[a] >= half[b])
                for x in range(2):
                    pending[n, 0], pending[n, 1] = (2 * a + x, b) if cut_a else (a, 2 * b + x)
                    n += 1


@inlined
def _interact_by_pairs(formula, weights, docs, bounds, pair, work):
    """All pairs of the documents of two leaves, or of one with itself."""
    upper, lower, slots = bounds[pair[0]], bounds[pair[1]], work.slots
    high, low = docs.s[upper[0]], docs.s[lower[1] - 1]
    if high - low + abs(formula.sigmoid.center) > RATIO_RANGE:
        _far_pairs(formula, weights, docs, upper, lower)
        return
    n_leaves, n_levels = 1 if pair[0] == pair[1] else 2, weights.gain.size
    for x in range(n_leaves):
        _fill_leaf_slots(weights.gain, docs, bounds[pair[x]], x, work)
        for slot in range(work.start[x, n_levels]):
            i = work.rank[x, slot]
            # Near the last of both, whose differences are the smallest, a float32 holds discounts best.
            slots[x, DISCOUNT, slot], work.scores[slot] = (
                docs.discount[i] - docs.discount[lower[1] - 1],
                docs.s[i],
            )
        write_e(formula.sigmoid, high, low, work.scores[: work.start[x, n_levels]], slots[x, E])
    for x in range(n_leaves):
        _interact_by_levels(formula, docs, x, n_leaves - 1 - x, work)
    for x in range(n_leaves):
        for slot in range(work.start[x, n_levels]):
            docs.sums[0, work.rank[x, slot]] += slots[x, LAM, slot]
            docs.sums[1, work.rank[x, slot]] += slots[x, MU, slot]
            slots[x, LAM, slot] = slots[x, MU, slot] = 0


@inlined
def _fill_leaf_slots(gain, docs, bounds, x, work):
    """Bring the documents of a leaf to slots level by level, all but E and the discount."""
    slots, start, rank = work.slots[x], work.start[x], work.rank[x]
    start[:] = 0
    for i in range(bounds[0], bounds[1]):
        start[docs.level[i]] += 1
    for level in range(1, start.size):
        start[level] += start[level - 1]
    for i in range(bounds[1] - 1, bounds[0] - 1, -1):
        start[docs.level[i]] -= 1
        slot = start[docs.level[i]]
        slots[GAIN, slot], slots[GAIN_REST, slot] = split_gain(gain[docs.level[i]])
        rank[slot], slots[SECOND, slot] = i, docs.second[i]
    for slot in range(start[start.size - 1], start[start.size - 1] + PADDING):
        slots[E, slot] = 0


@inlined
def _interact_by_levels(formula, docs, x, y, work):
    """Every level of leaf x against all worse levels of leaf y."""
    rows_start, start, m = work.start[x], work.start[y], work.start[y, work.start.shape[1] - 1]
    for level in range(start.size - 2):
        rows, lo = run_of(work.slots[x], rows_start[level], rows_start[level + 1]), start[level + 1]
        if rows.e.size > 0 and lo < m:
            rows_by_columns(formula, rows, run_of(work.slots[y], lo, padded_end(lo, m, m)))


@inlined
def _far_pairs(formula, weights, docs, upper, lower):
    """The same one by one in float64, where scores lie too far apart for tiles."""
    for i in range(upper[0], upper[1]):
        for j in range(max(i + 1, lower[0]), lower[1]):
            w, by_terms = 0.0, weights.by_upper[docs.level[i], docs.level[j]]
            for k in range(docs.terms.shape[1]):
                for l in range(docs.terms.shape[1]):
                    w += by_terms[k, l] * docs.terms[i, k] * docs.terms[j, l]
            sign = 1.0 if docs.level[i] < docs.level[j] else -1.0
            rho, rest = logistic(sign * (docs.s[i] - docs.s[j]) + formula.sigmoid.center)
            f, c = pair_lambdas(formula.force, w * rho, rho, rest)
            docs.sums[0, i] += sign * f
            docs.sums[0, j] -= sign * f
            docs.sums[1, i] += c
            docs.sums[1, j] += c


@kernel
def sum_by_tree(formula, first, by_rank, fallen, level_of, memory, out):
    """λ and μ of one list.

    `first` is its first document among all, `by_rank` (n,) are its documents counted from there, `fallen` (n,) is how
    far σ times the score has fallen at each rank.
    """
    docs, weights, runs, work = memory
    _read_documents(formula.swap, first, by_rank, fallen, level_of, docs)
    _weigh_levels(formula.swap, docs, weights)
    _split_runs(docs, runs)
    _compute_moments(docs, runs, work.at_points)
    _interact_all(formula, weights, docs, runs, work)
    _evaluate_local_expansions(docs, runs, work.at_points)
    for i in range(docs.s.size):
        out[0, docs.document[i]] = docs.sums[0, i]
        out[1, docs.document[i]] = curvature(formula.force, docs.sums[1, i])


def lambdas_by_tree(lists: Lists, formula: PairFormula, out: Any) -> None:
    """Write λ and μ of the queries that are wanted."""
    levels, queries = lists.levels, np.flatnonzero(lists.wanted)
    n_terms = formula.swap.n_terms
    sigma = formula.sigmoid.sigma
    formula = formula._replace(sigmoid=formula.sigmoid._replace(sigma=1.0))  # scores are multiplied by σ here

    def block(first: int, last: int, _: Any) -> None:
        for q in queries[first:last]:
            rows, own_levels = slice(*levels.offsets[q : q + 2]), slice(*levels.first[q : q + 2])
            n, n_labelled, by_rank = (
                rows.stop - rows.start,
                int(levels.size[own_levels].sum()),
                lists.by_rank[rows],
            )
            memory = _allocate(n, n_labelled, lists.gain[own_levels], 1 + n_terms)
            out[:, rows] = 0
            fallen = _accumulate_drops(lists.scores[rows][by_rank], sigma)
            level_of = levels.of_document[rows]
            sum_by_tree(formula, rows.start, by_rank, fallen, level_of, memory, out[:, rows])

    over_queries(block, np.append(0, np.cumsum(np.diff(levels.offsets)[queries])))


def _accumulate_drops(in_order: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """How far σ times the score has fallen at each rank.

    Neighbours far apart are brought nearer, so that one score of 1e20 leaves the others their digits.
    """
    with np.errstate(over="ignore"):
        falls = sigma * -np.diff(in_order, prepend=in_order[0])
    fallen: NDArray[np.float64] = np.cumsum(np.minimum(falls, WIDEST_GAP))
    return fallen


def is_tree_faster(q: Queries, levels: Levels, swap: Any) -> NDArray[np.bool_]:
    """Which queries have enough pairs, and few enough levels, for the tree to be faster; (n_queries,)."""
    # A document has fewer pairs than its list has documents.
    if swap.n_terms is None or q.sizes.max() <= PAIRS_A_DOCUMENT:
        return np.zeros(q.n_queries, dtype=bool)
    n_levels = np.diff(levels.first)
    # A pair needs a document above the cutoff.
    pairs = levels.pairs() * np.minimum(1, 2 * swap.cutoff / q.sizes)
    # The tree knows one list of levels, each above all that follow.
    whole = np.ones(q.n_queries, dtype=bool)
    np.logical_and.at(whole, levels.query(), levels.reach == n_levels[levels.query()])
    worth: NDArray[np.bool_] = whole & (n_levels <= LEVELS) & (pairs > PAIRS_A_DOCUMENT * q.sizes)
    return worth
