"""XGBoost's own rank:ndcg with top-k pairs, operation for operation.

A copy of `LambdaGrad` and `CalcLambdaForGroup` (XGBoost 3.x, src/objective/lambdarank_obj.h and .cc): float32 margins
and sigmoid, float64 pairs cast to float32, a hessian twice the derivative, discounts that run on past the truncation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives.native.terms import Derivatives, gradient_by

LEAST_CURVATURE = 1e-16


class Options(NamedTuple):
    """XGBoost's parameters."""

    truncation: int
    norm: bool
    score_norm: bool


@exact
def _one_query(score, label, gain, inverse_ideal, discount, options, grad, hess):
    truncation, norm, score_norm = options
    n = score.size
    one = np.float32(1)
    by_rank = np.argsort(-score, kind="mergesort")
    spread = score[by_rank[0]] != score[by_rank[n - 1]]
    total = 0.0
    for i in range(min(n, truncation)):
        for j in range(i + 1, n):
            above, under = label[by_rank[i]], label[by_rank[j]]
            if not (above > under or above < under):  # ties, and labels that are missing
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
            force, curvature = (rho - 1.0) * swap, max(rho * (1.0 - rho), LEAST_CURVATURE) * swap * 2.0
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
def _queries(first, last, offsets, score, label, terms, options, grad, hess):
    gain, inverse_ideal, discount = terms
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        _one_query(
            score[a:b], label[a:b], gain[a:b], inverse_ideal[q], discount, options, grad[a:b], hess[a:b],
        )  # fmt: skip


def xgboost_gradient(
    scores: NDArray[np.float64], q: Queries, metric: NDCG, truncation: int, norm: bool, score_norm: bool
) -> Derivatives:
    """Gradient and hessian before weights.

    The options are ``lambdarank_num_pair_per_sample``, ``lambdarank_normalization`` and
    ``lambdarank_score_normalization``.
    """
    options = Options(truncation, norm, score_norm)
    return gradient_by(_queries, scores.astype(np.float32), q, NDCG(truncation, metric.gain), options)


def xgboost_weights(q: Queries) -> NDArray[np.floating] | None:
    """Each query's weight times n_queries / Σ weights, for its rows, as XGBoost counts them."""
    if q.weight is None:
        return None
    weight = q.query_weight
    total = weight.sum()
    return np.repeat(weight * (q.n_queries / total) if total > 0 else weight, q.sizes).astype(np.float32)
