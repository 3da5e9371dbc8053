"""λ and μ by pairs whose swaps are weighed at several rankings, while the scores alone set the force.

The weights of a pair are summed over the rankings before its one exponential. A plain loop over pairs in float64: the
tiles of `_pairs` know one ranking, that of the scores.
"""

from __future__ import annotations

import math

import numpy as np

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.levels import levels
from lambdaboost.objectives.kernels.pair_rule import Floats, PairRule
from lambdaboost.objectives.kernels.pair_weight import Dcg, TwoFloatDcg, gap, rank_terms, step
from lambdaboost.objectives.kernels.tiles import NOTHING
from lambdaboost.objectives.swaps.of_measure import pair_weights


def noisy_pair_gradient(rule: PairRule, scores: Floats, rankers: Floats, q: Queries) -> tuple[Floats, Floats]:
    """λ and μ of a rule, each pair weighed by its mean swap under the rankings by `rankers` (draws, n_documents)."""
    swap, gains, discounts, cutoff = pair_weights(rule.metric, q)
    if isinstance(swap, Dcg):
        swap = TwoFloatDcg()
    pairs = levels(q, rule.source, rule.within, rule.skip_zero)
    of_levels = pairs.of_document, pairs.first, pairs.start, pairs.run_end
    lam, mu = np.zeros(q.n_documents), np.zeros(q.n_documents)
    over_queries(
        _block_of_queries, q.offsets, swap,
        float(rule.logistic), float(rule.local), float(rule.sigma), float(rule.center),
        cutoff, scores, rankers, gains, discounts, of_levels, lam, mu,
    )  # fmt: skip
    draws = len(rankers)
    return rule.sigma * lam / draws, rule.sigma**2 * mu / draws


@kernel
def _block_of_queries(
    q0, q1, offsets, swap, logistic, local, sigma, center,
    cutoff, scores, rankers, gains, discounts, of_levels, out_lam, out_mu,
):  # fmt: skip
    level_of, level_first, level_start, level_run_end = of_levels
    draws = rankers.shape[0]
    longest = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    d_room, h_room = np.empty(longest, np.float32), np.empty(longest, np.float32)
    # By document, the draws side by side.
    d, h = np.empty((longest, draws), np.float32), np.empty((longest, draws), np.float32)
    counts = np.empty((longest, draws), np.bool_)
    for q in range(q0, q1):
        a, b = offsets[q], offsets[q + 1]
        n = b - a
        for draw in range(draws):
            by_rank = np.argsort(-rankers[draw, a:b], kind="mergesort").astype(np.int32)
            d_of_rank, h_of_rank, cut = rank_terms(
                swap, a, gains[0][a:b], by_rank, discounts, cutoff, d_room[:n], h_room[:n]
            )
            for rank in range(n):
                i = by_rank[rank]
                d[i, draw], h[i, draw], counts[i, draw] = d_of_rank[rank], h_of_rank[rank], rank < cut
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
