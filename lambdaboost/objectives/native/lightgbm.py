"""LightGBM's own lambdarank, operation for operation, so that models are bit-identical.

A copy of `LambdarankNDCG::GetGradientsForOneQuery` (LightGBM 4.x, src/objective/rank_objective.hpp): float64 pairs
over ranks, cast and summed in float32, σ from a table of 2^20 bins, discounts that run on past the truncation.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives.native.terms import Derivatives, gradient_by

BINS = 1024 * 1024
EDGE = 50.0


@lru_cache(maxsize=4)
def _sigmoid_table(sigma: float) -> tuple[float, float, NDArray[np.float64]]:
    """The lowest tabled difference, bins per unit, and 1/(1 + e^{σ·difference}) at each bin's lower edge."""
    low = -EDGE / sigma / 2
    per_unit = BINS / (-low - low)
    return low, per_unit, 1.0 / (1.0 + np.exp((np.arange(BINS) / per_unit + low) * sigma))


class Options(NamedTuple):
    """LightGBM's parameters, and its table of the sigmoid with the lowest difference and the bins per unit."""

    sigma: float
    truncation: int
    norm: bool
    low: float
    per_unit: float
    table: Any


@exact
def _sigmoid(difference, low, per_unit, table):
    if difference <= low:
        return table[0]
    if difference >= -low:
        return table[BINS - 1]
    return table[np.int64((difference - low) * per_unit)]


@exact
def _one_query(
    score, label, gain, inverse_ideal, discount, sigma, truncation, norm, low, per_unit, table, grad, hess
):
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
            if norm and spread:
                swap /= np.float64(np.float32(0.01)) + abs(difference)
            rho = _sigmoid(difference, low, per_unit, table)
            curvature = rho * (1.0 - rho)
            lam = rho * (-sigma * swap)
            curvature *= sigma * sigma * swap
            grad[below] -= np.float32(lam)
            hess[below] += np.float32(curvature)
            grad[high] += np.float32(lam)
            hess[high] += np.float32(curvature)
            total -= 2 * lam
    if norm and total > 0:
        factor = math.log2(1 + total) / total
        for i in range(n):
            grad[i] = np.float32(grad[i] * factor)
            hess[i] = np.float32(hess[i] * factor)


@exact
def _queries(first, last, offsets, score, label, terms, options, grad, hess):
    gain, inverse_ideal, discount = terms
    # As scalars, since arrays in a tuple cost a call a tenth of its time.
    sigma, truncation, norm, low, per_unit, table = options
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        _one_query(
            score[a:b], label[a:b], gain[a:b], inverse_ideal[q], discount,
            sigma, truncation, norm, low, per_unit, table, grad[a:b], hess[a:b],
        )  # fmt: skip


def lightgbm_gradient(
    scores: NDArray[np.float64], q: Queries, metric: NDCG, sigma: float, truncation: int, norm: bool
) -> Derivatives:
    """Gradient and hessian before weights, with ``lambdarank_truncation_level`` and ``lambdarank_norm``."""
    options = Options(sigma, truncation, norm, *_sigmoid_table(sigma))
    return gradient_by(_queries, scores, q, NDCG(truncation, metric.gain), options)
