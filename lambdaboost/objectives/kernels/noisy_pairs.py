"""λ and μ by pairs whose swaps are weighed at several rankings, while the scores alone set the force.

The weights of a pair are summed over the rankings before its one exponential. A plain loop over pairs in float64: the
tiles know one ranking, that of the scores.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.exp import NOTHING
from lambdaboost.objectives.kernels.levels import levels
from lambdaboost.objectives.kernels.pair_factors import factors_of
from lambdaboost.objectives.kernels.pair_rule import Floats, PairRule
from lambdaboost.objectives.kernels.pair_weight import Dcg, PairWeights, TwoFloatDcg, gap, rank_terms, step


def noisy_pair_gradient(rule: PairRule, scores: Floats, rankers: Floats, q: Queries) -> tuple[Floats, Floats]:
    """λ and μ of a rule, each pair weighed by its mean swap under the rankings by `rankers` (draws, n_documents)."""
    weights = rule.weights(scores, q)
    if isinstance(weights.swap, Dcg):
        weights = weights._replace(swap=TwoFloatDcg())
    pairs = levels(q, rule.source, rule.within, rule.skip_zero)
    of_levels = pairs.of_document, pairs.first, pairs.start, pairs.run_end
    force = float(rule.logistic), float(rule.local), float(rule.sigma), float(rule.center)
    lam, mu = np.zeros(q.n_documents), np.zeros(q.n_documents)
    over_queries(
        _block_of_queries, q.offsets, Weighing(weights, rankers), force, scores, of_levels, (lam, mu)
    )
    draws = len(rankers)
    return rule.sigma * lam / draws, rule.sigma**2 * mu / draws


class Weighing(NamedTuple):
    """What weighs a pair: a swap, and the rankings whose mean counts."""

    weights: PairWeights
    rankers: Floats  # (draws, n_documents)


@inlined
def _terms_of_draws(weighing, a, n, memory, terms):
    """Write d, h and whether the rank counts of each document of a query, for every draw."""
    weights, rankers = weighing
    swap, gains, discounts, cutoff, _ = weights
    d, h, counts = terms
    for draw in range(rankers.shape[0]):
        by_rank = np.argsort(-rankers[draw, a : a + n], kind="mergesort").astype(np.int32)
        d_of_rank, h_of_rank, last_rank = rank_terms(
            swap, a, gains[0][a : a + n], by_rank, discounts, cutoff, memory[0][:n], memory[1][:n]
        )
        for rank in range(n):
            i = by_rank[rank]
            d[i, draw], h[i, draw], counts[i, draw] = d_of_rank[rank], h_of_rank[rank], rank < last_rank


@kernel
def _block_of_queries(q0, q1, offsets, weighing, force, scores, of_levels, out):
    """λ and μ of queries q0:q1; `force` is a mixed one with its σ and center."""
    weights, rankers = weighing
    swap, gains, _, _, factors = weights
    logistic, local, sigma, center = force
    level_of, level_first, level_start, level_run_end = of_levels
    out_lam, out_mu = out
    draws = rankers.shape[0]
    longest = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    # By document, the draws side by side.
    d, h = np.empty((longest, draws), np.float32), np.empty((longest, draws), np.float32)
    counts = np.empty((longest, draws), np.bool_)
    memory = np.empty(longest, np.float32), np.empty(longest, np.float32)
    for q in range(q0, q1):
        a, b = offsets[q], offsets[q + 1]
        n = b - a
        _terms_of_draws(weighing, a, n, memory, (d, h, counts))
        for i in range(n):
            level = level_of[a + i]
            if level < 0:
                continue
            run_end = level_run_end[level_first[q] + level]
            for j in range(n):
                worse = level_of[a + j]
                if worse <= level or level_start[level_first[q] + worse] >= run_end:
                    continue
                w = 0.0
                for draw in range(draws):
                    if counts[i, draw] or counts[j, draw]:
                        w += step(swap, d[i, draw], h[i, draw], d[j, draw], h[j, draw])
                w *= gap(swap, gains[0][a + i], gains[1][a + i], gains[0][a + j], gains[1][a + j])
                w *= factors_of(factors, a + i)[0] * factors_of(factors, a + j)[1]
                apart = sigma * (scores[a + i] - scores[a + j]) + center
                if w == 0 or apart > NOTHING:
                    continue
                rho, rest = 1.0, 0.0
                if apart > -NOTHING:
                    rho, rest = 1.0 / (1.0 + math.exp(apart)), 1.0 / (1.0 + math.exp(-apart))
                f = w * rho * (logistic + local * rest)
                c = w * rho * rest * (logistic + local * (rest - rho))
                out_lam[a + i] += f
                out_lam[a + j] -= f
                out_mu[a + i] += c
                out_mu[a + j] += c
