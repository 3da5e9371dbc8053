"""The cost of pairs, summed by the positions of their two documents: a plain loop over pairs in float64."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.ranking import ranking
from lambdaboost.objectives.kernels.levels import levels
from lambdaboost.objectives.kernels.pair_rule import Floats, PairRule
from lambdaboost.objectives.kernels.pair_weight import Dcg, TwoFloatDcg, gap, rank_terms, step

PARTS = 64  # partial sums, whatever the number of threads, so that results do not depend on it
LARGEST = 1 << 20  # values of all partial sums together


def pair_costs(rule: PairRule, scores: Floats, q: Queries, place: NDArray[np.int32], n_places: int) -> Floats:
    """The sum of w log(1 + e^{−σ(s_i − s_j)}) over pairs with i at place k and j at place l; (n_places, n_places)."""
    weights = rule.weights(scores, q)
    if isinstance(weights.swap, Dcg):
        weights = weights._replace(swap=TwoFloatDcg())
    n_parts = min(PARTS, q.n_queries, max(1, LARGEST // n_places**2))
    bounds = np.linspace(0, q.n_queries, n_parts + 1).astype(np.int64)
    costs = np.zeros((n_parts, n_places, n_places))
    lists = bounds, q.offsets, levels(q, rule.source, rule.within, rule.skip_zero), place
    order = ranking(scores, q.offsets)
    over_queries(_block_of_parts, q.offsets[bounds], lists, weights, float(rule.sigma), scores, order, costs)
    summed: Floats = costs.sum(axis=0)
    return summed


@kernel
def _block_of_parts(p0, p1, starts, lists, weights, sigma, scores, order, costs):
    """The partial sums p0:p1, each over adjacent queries."""
    bounds, offsets, of_levels, place = lists
    swap, gains, discounts, cutoff, _ = weights
    longest = 0
    for q in range(bounds[p0], bounds[p1]):
        longest = max(longest, offsets[q + 1] - offsets[q])
    d_memory, h_memory = np.empty(longest, np.float32), np.empty(longest, np.float32)
    d, h, counts = np.empty(longest, np.float32), np.empty(longest, np.float32), np.empty(longest, np.bool_)
    for part in range(p0, p1):
        for q in range(bounds[part], bounds[part + 1]):
            a, b = offsets[q], offsets[q + 1]
            n = b - a
            by_rank = order[a:b]
            d_of_rank, h_of_rank, last_rank = rank_terms(
                swap, a, gains[0][a:b], by_rank, discounts, cutoff, d_memory[:n], h_memory[:n]
            )
            for rank in range(n):
                i = by_rank[rank]
                d[i], h[i], counts[i] = d_of_rank[rank], h_of_rank[rank], rank < last_rank
            first = of_levels.first[q]
            for i in range(n):
                level = of_levels.of_document[a + i]
                if level < 0 or of_levels.run_end[first + level] <= of_levels.end[first + level]:
                    continue
                run_end = of_levels.run_end[first + level]
                for j in range(n):
                    worse = of_levels.of_document[a + j]
                    if worse <= level or of_levels.start[first + worse] >= run_end:
                        continue
                    if not (counts[i] or counts[j]):
                        continue
                    w = step(swap, d[i], h[i], d[j], h[j])
                    w *= gap(swap, gains[0][a + i], gains[1][a + i], gains[0][a + j], gains[1][a + j])
                    apart = sigma * (scores[a + i] - scores[a + j])
                    cost = math.log1p(math.exp(-abs(apart))) - min(apart, 0.0)
                    costs[part, place[a + i], place[a + j]] += w * cost
