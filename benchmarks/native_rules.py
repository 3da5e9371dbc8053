"""The engines' own LambdaRank, operation for operation: what `LambdaRank()` and the engines' trees are compared with.

`LightGBMRule` copies `LambdarankNDCG::GetGradientsForOneQuery` (LightGBM 4.x, src/objective/rank_objective.hpp):
float64 pairs over ranks, cast and summed in float32, σ from a table of 2^20 bins. `XGBoostRule` copies `LambdaGrad` and
`CalcLambdaForGroup` with top-k pairs (XGBoost 3.x, src/objective/lambdarank_obj.h and .cc): float32 margins and
sigmoid, float64 pairs cast to float32, a hessian twice the derivative. In both, discounts run on past the truncation.
"""

import math
from dataclasses import replace

import numba
import numpy as np

from lambdaboost import NDCG
from lambdaboost.objectives import Objective

BINS, LOW = 1024 * 1024, -25.0  # of LightGBM's table of the sigmoid
PER_UNIT = BINS / (-LOW - LOW)
LEAST_CURVATURE = 1e-16
compiled = numba.njit(error_model="numpy", cache=True)


class LightGBMRule(Objective, registered=False):
    """``objective="lambdarank"`` with ``lambdarank_truncation_level``."""

    truncation: int = 30

    def lambdas(self, scores, q, iteration):
        table = 1.0 / (1.0 + np.exp(np.arange(BINS) / PER_UNIT + LOW))
        grad, hess = by_queries(of_lightgbm, scores, q, self.truncation, table)
        return -grad, hess


class XGBoostRule(Objective, registered=False):
    """``objective="rank:ndcg"`` with ``lambdarank_num_pair_per_sample``."""

    truncation: int = 32

    def lambdas(self, scores, q, iteration):
        grad, hess = by_queries(of_xgboost, scores.astype(np.float32), q, self.truncation)
        return -grad, hess

    def on(self, q):
        """Query weights scaled to a mean of 1, as XGBoost counts them."""
        bound = super().on(q)
        total = q.query_weight.sum()
        if q.weight is None or not total > 0:
            return bound
        weight = np.repeat(q.query_weight * (q.n_queries / total), q.sizes)
        return replace(bound, weight=weight.astype(np.float32))


def by_queries(rule, scores, q, truncation, *table):
    """Gradient and hessian, a query after the other."""
    grad, hess = np.zeros((2, q.n_documents), np.float32)
    truncated = NDCG(truncation)
    gain, best = truncated.gains(q), truncated.ideal(q)
    discount = 1.0 / np.log2(2.0 + np.arange(q.sizes.max()))
    for query, (a, b) in enumerate(zip(q.offsets, q.offsets[1:], strict=False)):
        inverse = 1.0 / best[query] if best[query] > 0 else 0.0
        of_query = scores[a:b], q.relevance[a:b], gain[a:b], inverse, discount, truncation
        rule(*of_query, *table, grad[a:b], hess[a:b])
    return grad, hess


@compiled
def of_lightgbm(score, label, gain, inverse_ideal, discount, truncation, table, grad, hess):
    n = score.size
    by_rank = np.argsort(-score, kind="mergesort")
    spread = score[by_rank[0]] != score[by_rank[n - 1]]
    total = 0.0
    for i in range(min(n - 1, truncation)):
        for j in range(i + 1, n):
            above, under = label[by_rank[i]], label[by_rank[j]]
            if not (above > under or above < under):  # ties, and labels that are missing
                continue
            high_rank, low_rank = (i, j) if above > under else (j, i)
            high, below = by_rank[high_rank], by_rank[low_rank]
            difference = score[high] - score[below]
            swap = (gain[high] - gain[below]) * abs(discount[high_rank] - discount[low_rank]) * inverse_ideal
            if spread:
                swap /= np.float64(np.float32(0.01)) + abs(difference)
            if difference <= LOW:
                rho = table[0]
            elif difference >= -LOW:
                rho = table[BINS - 1]
            else:
                rho = table[np.int64((difference - LOW) * PER_UNIT)]
            lam = -rho * swap
            curvature = rho * (1.0 - rho) * swap
            grad[below] -= np.float32(lam)
            hess[below] += np.float32(curvature)
            grad[high] += np.float32(lam)
            hess[high] += np.float32(curvature)
            total -= 2 * lam
    if total > 0:
        factor = math.log2(1 + total) / total
        for i in range(n):
            grad[i] = np.float32(grad[i] * factor)
            hess[i] = np.float32(hess[i] * factor)


@compiled
def of_xgboost(score, label, gain, inverse_ideal, discount, truncation, grad, hess):
    n = score.size
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
            if spread:
                swap /= np.float64(abs(difference)) + 0.01
            rho = np.float64(one / (one + np.float32(math.exp(min(-difference, np.float32(88.7))))))
            force, curvature = (rho - 1.0) * swap, max(rho * (1.0 - rho), LEAST_CURVATURE) * swap * 2.0
            grad[high] += np.float32(force)
            grad[below] -= np.float32(force)
            hess[high] += np.float32(curvature)
            hess[below] += np.float32(curvature)
            total -= 2 * np.float64(np.float32(force))
    if total > 0:
        factor = np.float32(math.log2(1 + total) / total)
        for i in range(n):
            grad[i] *= factor
            hess[i] *= factor
