"""A round of XGBoost's rank:ndcg with ``lambdarank_unbiased``, operation for operation.

A copy of `LambdaGrad<unbiased>`, `CalcLambdaForGroup` and `LambdaRankUpdatePositionBias` (XGBoost 3.x,
src/objective/lambdarank_obj.h and .cc). The position of a document is its row within the query. The ratios are a state,
which every round replaces, so this is no `Objective`; `UnbiasedLambdaRank` solves for them in each round. XGBoost's
cost of a pair is log(1 + e^{s_i − s_j}), where the paper has log(1 + e^{s_j − s_i}).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives.native.queries import Derivatives, gradient_of
from lambdaboost.objectives.native.xgboost import TRUNCATION, row_weights

NOTHING = 1e-16


class Ratios(NamedTuple):
    """t⁺ and t⁻ by position, float64, as long as the truncation."""

    plus: NDArray[np.float64]
    minus: NDArray[np.float64]


class Options(NamedTuple):
    """XGBoost's parameters, the ratios, and where the costs of each document go."""

    truncation: int
    norm: bool
    score_norm: bool
    plus: NDArray[np.float64]
    minus: NDArray[np.float64]
    plus_costs: NDArray[np.float64]
    minus_costs: NDArray[np.float64]


def start(truncation: int = TRUNCATION) -> Ratios:
    """The ratios before the first round."""
    return Ratios(np.ones(truncation), np.ones(truncation))


@exact
def _one_query(score, label, gain, inverse_ideal, discount, options, plus_costs, minus_costs, grad, hess):
    truncation, norm, score_norm, plus, minus, _, _ = options
    n, tracked = score.size, plus.size
    one = np.float32(1)
    by_rank = np.argsort(-score, kind="mergesort")
    spread = score[by_rank[0]] != score[by_rank[n - 1]]
    total = 0.0
    for i in range(min(n, truncation)):
        for j in range(i + 1, n):
            above, under = label[by_rank[i]], label[by_rank[j]]
            if not (above > under or above < under):
                continue
            high_rank, low_rank = (i, j) if above > under else (j, i)
            high, below = by_rank[high_rank], by_rank[low_rank]
            difference = score[high] - score[below]
            swap = (
                abs((gain[high] - gain[below]) * (discount[high_rank] - discount[low_rank])) * inverse_ideal
            )
            if score_norm and spread:
                swap /= np.float64(abs(difference)) + 0.01
            rho = np.float64(one / (one + np.float32(math.exp(min(-difference, np.float32(88.7))))))
            cost = math.log(1.0 / (1.0 - rho)) * swap
            force, curvature = (rho - 1.0) * swap, max(rho * (1.0 - rho), NOTHING) * swap * 2.0
            if high < tracked and below < tracked:
                if minus[below] >= NOTHING and plus[high] >= NOTHING:
                    force /= plus[high] * minus[below]
                    curvature /= plus[high] * minus[below]
                if minus[below] >= NOTHING:
                    plus_costs[high] += cost / minus[below]
                if plus[high] >= NOTHING:
                    minus_costs[below] += cost / plus[high]
            grad[high] += np.float32(force)
            grad[below] -= np.float32(force)
            hess[high] += np.float32(curvature)
            hess[below] += np.float32(curvature)
            total -= 2 * np.float64(np.float32(force))
    if norm and total > 0:
        factor = np.float32(math.log2(1 + total) / total)
        for i in range(n):
            grad[i] *= factor
            hess[i] *= factor


@exact
def _queries(first, last, offsets, score, label, weights, options, grad, hess):
    gain, inverse_ideal, discount = weights
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        _one_query(
            score[a:b], label[a:b], gain[a:b], inverse_ideal[q], discount, options,
            options.plus_costs[a:b], options.minus_costs[a:b], grad[a:b], hess[a:b],
        )  # fmt: skip


def step(
    ratios: Ratios,
    scores: NDArray[np.float64],
    q: Queries,
    norm: bool = True,
    score_norm: bool = True,
    bias_norm: float = 1.0,
    metric: NDCG = NDCG(),
) -> tuple[Derivatives, Ratios]:
    """Gradient and hessian of a round, weights included, and the ratios of the next.

    Parameters
    ----------
    ratios : Ratios
        As `start` or the round before gave them; as long as ``lambdarank_num_pair_per_sample``.
    scores, q
        Scores and queries, rows in the order in which they were shown.
    norm, score_norm, bias_norm
        XGBoost's ``lambdarank_normalization``, ``lambdarank_score_normalization`` and ``lambdarank_bias_norm``.
    metric : NDCG
        Without a cutoff, and with the gain.

    """
    tracked = ratios.plus.size
    costs = np.zeros(q.n_documents), np.zeros(q.n_documents)
    options = Options(tracked, norm, score_norm, *ratios, *costs)
    grad, hess = gradient_of(_queries, scores.astype(np.float32), q, NDCG(tracked, metric.gain), options)
    weights = row_weights(q)
    if weights is not None:
        grad, hess = grad * weights, hess * weights
    place = np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)
    shown = place < tracked
    following = []
    for t, cost in zip(ratios, costs, strict=True):
        by_place = np.bincount(place[shown], cost[shown], tracked)
        following.append((by_place / by_place[0]) ** (1 / (1 + bias_norm)) if by_place[0] >= NOTHING else t)
    return (grad, hess), Ratios(*following)
