"""Figure 2: NDCG by single weights of a trained linear LambdaRank, on synthetic data of 50 features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.common.cubic import cubic_polynomial
from experiments.yue2007.accuracy import MEASURE
from experiments.yue2007.linear_search import Gains, weight_gradient
from experiments.yue2007.optimality import WeightSweep, weight_sweep
from lambdaboost import LambdaRank

SIZES = (100, 1000)  # the paper's, and all queries
ITERATIONS, RATE = 120, 3.0


@dataclass(frozen=True, eq=False)
class _Linear:
    coef_: Any


def swept(queries: int, seed: int) -> WeightSweep:
    """Train on `queries` queries until convergence and shift the five weights that change scores most."""
    X, q = cubic_polynomial(queries, seed=seed).shuffled(seed)
    X = np.asarray(X, dtype=np.float64)
    w = np.random.default_rng((seed, 4)).normal(size=X.shape[1]) / np.sqrt(X.shape[1])
    gains = Gains(1.0, 1.0, ITERATIONS / 10)
    for k in range(ITERATIONS):
        w -= RATE * gains.rates(k) / gains.rates(0) * weight_gradient(LambdaRank(MEASURE), X, q, w)
    sizes = sorted({*(n for n in SIZES if n < queries), queries})
    return weight_sweep(_Linear(w), X, q, MEASURE, weights=5, sizes=sizes, seed=seed)
