"""Rankings drawn at random: by scores with Gumbel noise that a counter gives, and the mean discount of each document.

The noise of a document is a function of six numbers:

    seed, round, draw         of the objective and the training
    levels, gaps              of its query: which document is on which level (`levels`), and how far each score lies
                              from the one before
    position                  its own within the query

The noise does not depend on threads, on the order of the queries, or on which other queries there are. Two queries with
the same levels in the same order and the same gaps get the same noise; before the first tree, when all scores tie, that
is every pair of queries with the same levels. A constant added to all scores changes nothing: gaps are counted in steps
of 2⁻²⁰, and their rounding errors are far smaller.

A key of 64 bits is made of all but the position; its two halves and the position are mixed to 32 bits, of which 23 make
u, uniform on (0, 1), and G = −log(−log u) is standard Gumbel noise. The order of s + βG is a draw from the model of
Plackett and Luce: documents are chosen one after the other, each with a probability in proportion to e^{s/β}.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, inlined_strict_fp, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, NDCG
from lambdaboost.evaluation.lanes import LANES, LONGEST_IN_LANES, count_ranks, to_lanes
from lambdaboost.evaluation.levels import Levels
from lambdaboost.evaluation.rankings import sort_queries
from lambdaboost.objectives.kernels.elementary import log2_same_in_every_loop
from lambdaboost.objectives.kernels.lanes import NO_DOCUMENT
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.prepared import (
    BY_SWEEP,
    LambdaFunction,
    LambdaMu,
    PreparedPairs,
    Round,
)
from lambdaboost.objectives.swaps.dcg import MeanDcg, discounts_to

# Documents that lie farther below the best of their query are ranked as if they lay here.
LOWEST = np.float64(-1e30)
STEPS = 2.0**20  # of a gap, a unit of the score
WIDEST_GAP = 2.0**30  # in steps

# Odd numbers whose bits look random, and the two mixers that they come from: splitmix64 and lowbias32.
GOLDEN_64, FIRST_64, SECOND_64 = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
GOLDEN_32, FIRST_32, SECOND_32 = map(np.uint32, (0x9E3779B1, 0x21F0AAAD, 0xD35A2D97))

LN_2 = np.float32(np.log(2))
HALF, STEP_OF_U = np.float32(0.5), np.float32(2.0**-23)


@inlined_strict_fp
def gumbel(position, low, high):
    """G of a document of a query whose key has these halves, uint32."""
    x = np.uint32(np.uint32(np.uint32(position) * GOLDEN_32) + low)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(16))) * FIRST_32)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(15))) + high)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(15))) * SECOND_32)
    x = np.uint32(x ^ np.uint32(x >> np.uint32(15)))
    u = (np.float32(np.int32(x >> np.uint32(9))) + HALF) * STEP_OF_U
    return -LN_2 * log2_same_in_every_loop(-LN_2 * log2_same_in_every_loop(u))


def mix_64(x):
    """Splitmix64's last step, for a number or an array: every bit of the result depends on every bit of x."""
    x = np.uint64(np.uint64(x ^ np.uint64(x >> np.uint64(30))) * FIRST_64)
    x = np.uint64(np.uint64(x ^ np.uint64(x >> np.uint64(27))) * SECOND_64)
    return np.uint64(x ^ np.uint64(x >> np.uint64(31)))


compiled_mix_64 = inlined(mix_64)


@inlined_strict_fp
def _of_gap(position, before, score):
    """What the gap between a score and the one before adds to its query's sum of gaps, uint32."""
    steps = min(max((score - before) * STEPS, -WIDEST_GAP), WIDEST_GAP)
    x = np.uint32(np.uint32(np.int32(steps + 0.5)) + np.uint32(np.uint32(position) * GOLDEN_32))
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(16))) * FIRST_32)
    return np.uint32(x ^ np.uint32(x >> np.uint32(15)))


@inlined
def _key(digest, of_round, gaps, draw):
    """The key of a query of this digest (`digest_levels`) in a draw of a round (`digest_round`), uint64."""
    of_query = compiled_mix_64(np.uint64(digest ^ np.uint64(np.uint64(gaps) * GOLDEN_64)))
    return compiled_mix_64(np.uint64(of_query + of_round + np.uint64(np.uint64(draw) * GOLDEN_64)))


@inlined_strict_fp
def _noisy(score, best, beta, g):
    """A score with noise, float32, counted from the best of its query."""
    return np.float32(max(score - best, LOWEST)) + beta * g


def digest_levels(q: Queries, levels: Levels) -> NDArray[np.uint64]:
    """A number for each query, the same for those whose documents have the same levels in the same order."""
    digests = np.empty(q.n_queries, np.uint64)
    for first, last, part in q.chunks():
        rows = slice(q.offsets[first], q.offsets[last])
        position = np.arange(part.n_documents) - np.repeat(part.offsets[:-1], part.sizes)
        level = levels.of_document[rows].astype(np.int64) + 2
        of_document = mix_64(position.astype(np.uint64) * GOLDEN_64 + level.astype(np.uint64))
        digests[first:last] = mix_64(
            np.add.reduceat(of_document, part.offsets[:-1]) + part.sizes.astype(np.uint64)
        )
    return digests


def digest_round(seed: int, iteration: int) -> np.uint64:
    """A number for a seed and a round."""
    digest: np.uint64 = np.random.SeedSequence((seed, iteration)).generate_state(1, np.uint64)[0]
    return digest


# Rankings of lists one after the other.


@kernel
def add_noise(first, last, offsets, selected, digests, of_round, beta, scores, noisy):
    """Write the scores of queries first:last that are selected with the noise of each draw.

    `noisy` is float64 (draws, n_documents), of float32 numbers; `beta` is float32.
    """
    for q in range(first, last):
        if not selected[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        s, best, gaps = scores[a:b], scores[a], np.uint32(0)
        for p in range(b - a):
            best = max(best, s[p])
        for p in range(1, b - a):
            gaps = np.uint32(gaps + _of_gap(p, s[p - 1], s[p]))
        for draw in range(noisy.shape[0]):
            of_draw, key = noisy[draw, a:b], _key(digests[q], of_round, gaps, draw)
            low, high = np.uint32(key), np.uint32(key >> np.uint64(32))
            for p in range(b - a):
                of_draw[p] = _noisy(s[p], best, beta, gumbel(p, low, high))


@kernel
def _add_discounts(first, last, offsets, selected, orders, discounts, mean):
    """Add the discounts of the documents of queries first:last that are selected, in the order of each draw."""
    for q in range(first, last):
        if not selected[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        for draw in range(orders.shape[0]):
            by_rank = orders[draw, a:b]
            for r in range(b - a):
                mean[a + by_rank[r]] += discounts[r]


@kernel
def _discounted_first(first, last, offsets, selected, mean, order):
    """Write the documents of each query to `order`: first those with a mean discount, which a draw put above k."""
    for q in range(first, last):
        if not selected[q]:
            continue
        of_query, by_rank = mean[offsets[q] : offsets[q + 1]], order[offsets[q] : offsets[q + 1]]
        front, back = 0, of_query.size - 1
        for p in range(of_query.size):
            has = np.int64(of_query[p] > 0)
            by_rank[front if has else back] = p
            front, back = front + has, back - (1 - has)


# Rankings of short lists, one in each vector lane.


@kernel
def _mean_discounts_in_lanes(
    first, last, documents, batches, offsets, digests, of_round, beta, draws, scores, discounts, mean
):
    """Write mean discounts of the documents of batches first:last (`lanes`); `discounts` are divided by `draws`."""
    s, noisy = np.empty(LONGEST_IN_LANES * LANES), np.empty(LONGEST_IN_LANES * LANES, np.float32)
    m, rank = np.empty(LONGEST_IN_LANES * LANES, np.float32), np.empty(LONGEST_IN_LANES * LANES, np.int32)
    best, gaps = np.empty(LANES), np.empty(LANES, np.uint32)
    low, high = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    for b in range(first, last):
        n, query = batches.first[b + 1] - batches.first[b], batches.query[b]
        to_lanes(query, n, scores, offsets, NO_DOCUMENT, s)

        # The best score and the gaps of each list.
        for lane in range(LANES):
            best[lane], gaps[lane] = s[lane], 0
        for p in range(1, n):
            before, row = s[(p - 1) * LANES : p * LANES], s[p * LANES : (p + 1) * LANES]
            for lane in range(LANES):
                best[lane] = max(best[lane], row[lane])
                of_gap = _of_gap(p, before[lane], row[lane])
                gaps[lane] += of_gap if row[lane] > NO_DOCUMENT else np.uint32(0)

        # The discounts of all draws.
        for x in range(n * LANES):
            m[x] = 0
        for draw in range(draws):
            for lane in range(LANES):
                key = _key(digests[max(query[lane], 0)], of_round, gaps[lane], draw)
                low[lane], high[lane] = np.uint32(key), np.uint32(key >> np.uint64(32))
            for p in range(n):
                row, noisy_row = s[p * LANES : (p + 1) * LANES], noisy[p * LANES : (p + 1) * LANES]
                for lane in range(LANES):
                    g = gumbel(p, low[lane], high[lane])
                    noisy_row[lane] = _noisy(row[lane], best[lane], beta, g)
            count_ranks(n, noisy, rank)
            for x in range(n * LANES):
                m[x] += discounts[rank[x]]

        for lane in range(LANES):
            q = query[lane]
            if q >= 0:
                of_query = mean[offsets[q] : offsets[q + 1]]
                for p in range(of_query.size):
                    of_query[p] = m[p * LANES + lane]


# λ and μ weighted by noisy rankings.


def weigh_by_noise(rule: PairRule, q: Queries) -> LambdaFunction:
    """The function of a round that gives λ and μ of a rule's pairs, weighted by the mean over noisy rankings."""
    beta, draws, seed = np.float32(rule.beta), rule.draws, rule.seed
    offsets, digests, every = q.offsets, digest_levels(q, rule.levels(q)), np.ones(q.n_queries, dtype=bool)
    rows = (np.arange(q.n_documents) - np.repeat(offsets[:-1], q.sizes)).astype(np.int32)
    # The queries of all draws, as if they stood one after the other.
    starts = offsets[:-1] + offsets[-1] * np.arange(draws)[:, None]
    of_draws = np.append(starts, offsets[-1] * draws)
    of_draws.flags.writeable = False  # as `offsets` is, so that sorting is compiled for one type

    def rankings(now: Round, selected: NDArray[np.bool_]) -> NDArray[np.int32]:
        """The documents of each query by rank in each draw, (draws, n_documents); of those not `selected` by row."""
        noisy = np.empty((draws, now.scores.size))
        orders = np.tile(rows, (draws, 1))
        of_round = digest_round(seed, now.iteration)
        over_queries(add_noise, offsets, selected, digests, of_round, beta, now.scores, noisy)
        over_queries(sort_queries, of_draws, np.tile(selected, draws), noisy.ravel(), orders.ravel())
        return orders

    if not isinstance(rule.metric, NDCG | CNDCG):
        pairs = PreparedPairs(rule, q)

        def average_weights(now: Round) -> LambdaMu:
            sums = np.zeros((2, now.scores.size))
            for order in rankings(now, every):
                sums += pairs(now._replace(order=order))
            lam, mu = sums / draws
            return lam, mu

        return average_weights

    # One sum over pairs with the mean discount of each document: any may come above the cutoff, at most one for each
    # rank and draw.
    k = rule.metric.k
    cutoff = draws * (k or q.n_documents)
    pairs = PreparedPairs(rule, q, MeanDcg(np.empty(0, np.float32), cutoff))
    batches, long, by_sweep = pairs.batches, pairs.long, pairs.groups.get(BY_SWEEP)
    has_long = bool(long.any())
    discounts = (discounts_to(k, q) / draws).astype(np.float32)

    def average_discounts(now: Round) -> LambdaMu:
        # Short lists are in any order, since the discounts of their documents are their own; where their scores are too
        # far apart for lanes, all documents are read in that order.
        order, mean = rows, np.zeros(rows.size, np.float32)
        if batches is not None:
            over_queries(
                _mean_discounts_in_lanes, batches.documents, batches, offsets, digests,
                digest_round(seed, now.iteration), beta, draws, now.scores, discounts, mean,
            )  # fmt: skip
        if has_long:
            orders = rankings(now, long)
            over_queries(_add_discounts, offsets, long, orders, discounts, mean)
            order = orders[0]
            # The order of the documents: whichever will do, but for a cutoff and for the sweep.
            if k is not None:
                over_queries(_discounted_first, offsets, long, mean, order)
            if by_sweep is not None:
                over_queries(sort_queries, offsets, by_sweep, mean.astype(np.float64), order)
        return pairs(now._replace(order=order), MeanDcg(mean, cutoff))

    return average_discounts
