"""What the pairs of a better document at one position and a worse at another cost, and the bias that explains it.

A plain loop over pairs in float64, of a sample of queries where there are many.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.ranking import ranking
from lambdaboost.objectives.kernels.levels import levels
from lambdaboost.objectives.kernels.pair_rule import Floats, PairRule
from lambdaboost.objectives.kernels.pair_weight import Dcg, TwoFloatDcg, gap, rank_terms, step

PAIRS = 50_000  # sampled queries have about so many
PARTS = 64  # sums that are added in the end, whatever the number of threads
FIGURES = 1 << 20  # of all parts together
ROUNDS = 200  # of the alternating minimisation, at most
TOLERANCE = 1e-7


def sampled(q: Queries, source: str) -> tuple[Queries, NDArray[np.int64] | None]:
    """Queries with about `PAIRS` pairs by the labels of a source, the same at every call, and their rows or None."""

    def build() -> tuple[Queries, NDArray[np.int64] | None]:
        of = levels(q, source)
        query = np.repeat(np.arange(q.n_queries), np.diff(of.first))
        pairs = np.bincount(
            query, (of.end - of.start).astype(np.float64) * (of.run_end - of.end), minlength=q.n_queries
        )
        if pairs.sum() <= PAIRS:
            return q, None
        order = np.random.default_rng(0).permutation(q.n_queries)
        order = order[pairs[order] > 0]
        chosen = np.sort(order[: int(np.searchsorted(np.cumsum(pairs[order]), PAIRS)) + 1])
        return q.take(chosen), q.rows_of(chosen)

    found: tuple[Queries, NDArray[np.int64] | None] = q.memo(("sampled pairs", source), build)
    return found


def pair_costs(rule: PairRule, scores: Floats, q: Queries, place: NDArray[np.int32], n_places: int) -> Floats:
    """The sum of w log(1 + e^{−σ(s_i − s_j)}) over pairs with i at place k and j at place l; (n_places, n_places)."""
    weights = rule.weights(scores, q)
    if isinstance(weights.swap, Dcg):
        weights = weights._replace(swap=TwoFloatDcg())
    n_parts = min(PARTS, q.n_queries, max(1, FIGURES // n_places**2))
    bounds = np.linspace(0, q.n_queries, n_parts + 1).astype(np.int64)
    costs = np.zeros((n_parts, n_places, n_places))
    lists = bounds, q.offsets, levels(q, rule.source, rule.within, rule.skip_zero), place
    order = ranking(scores, q.offsets)
    over_queries(_block_of_parts, q.offsets[bounds], lists, weights, float(rule.sigma), scores, order, costs)
    summed: Floats = costs.sum(axis=0)
    return summed


@kernel
def _block_of_parts(p0, p1, starts, lists, weights, sigma, scores, order, costs):
    """The costs of parts p0:p1, each some queries one after the other."""
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


def position_ratios(costs: Floats, regularization: float) -> tuple[Floats, Floats]:
    r"""t⁺ and t⁻ of each place from the costs of pairs (Hu et al. 2019, eqs. 30-31), by alternating minimisation.

    .. math:: t^+_k \propto \Big(\sum_l C_{kl} / t^-_l\Big)^{1/(1+p)}, \quad
        t^-_l \propto \Big(\sum_k C_{kl} / t^+_k\Big)^{1/(1+p)}

    The first place that has a cost gets 1; one that has none gets the value between its neighbours'.
    """
    power = 1 / (1 + regularization)
    known = costs.sum(axis=1) > 0, costs.sum(axis=0) > 0
    t = [np.ones(len(costs)), np.ones(len(costs))]
    for _ in range(ROUNDS):
        before = np.concatenate(t)
        for side, of in ((0, costs), (1, costs.T)):
            t[side] = _relative((of @ (1 / t[1 - side])) ** power, known[side])
        if np.abs(np.concatenate(t) / before - 1).max() <= TOLERANCE:
            break
    return t[0], t[1]


def _relative(t: Floats, known: NDArray[Any]) -> Floats:
    """Figures relative to the first known, filled where they are not known."""
    if not known.any():
        return np.ones(t.size)
    at = np.flatnonzero(known)
    # Costs of nothing but pairs in a perfect order may underflow against others.
    filled: Floats = np.maximum(np.interp(np.arange(t.size), at, t[at] / t[at[0]]), 1e-6)
    return filled
