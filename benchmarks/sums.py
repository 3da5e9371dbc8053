"""λ and μ of single documents by plain float64 sums, as a reference for the kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost import Queries
from lambdaboost.objectives import Objective, RankNet, SigmoidLocal

Floats = NDArray[np.float64]


def sampled_error(
    objective: Objective, scores: Floats, q: Queries, sample: NDArray[np.int64]
) -> tuple[float, float]:
    """Largest errors of λ and of μ among sampled documents of a single list, relative to the largest λ and μ there.

    `objective` is RankNet(), LambdaRank() or SigmoidLocal().
    """
    grad, hess = objective.gradient(scores, q)
    lam, mu = _summed(objective, scores, q.relevance.astype(np.float64), sample)
    return _relative(-grad[sample], lam), _relative(hess[sample], mu)


def _relative(found: NDArray[np.float32], true: Floats) -> float:
    return float(np.abs(found - true).max() / np.abs(true).max())


def _summed(
    objective: Objective, s: Floats, label: Floats, sample: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    n = s.size
    discount = np.empty(n)
    discount[np.argsort(-s, kind="stable")] = 1 / np.log2(2.0 + np.arange(n))
    gain = 2.0**label - 1
    ideal = (np.sort(gain)[::-1] / np.log2(2.0 + np.arange(n))).sum()
    lam, mu = np.empty(sample.size), np.empty(sample.size)
    for at, i in enumerate(sample):
        side = np.sign(label[i] - label)
        swap = np.abs((gain[i] - gain) * (discount[i] - discount)) / ideal
        w = np.abs(side) if isinstance(objective, RankNet) else swap
        rho = 1 / (1 + np.exp(side * (s[i] - s)))
        if isinstance(objective, SigmoidLocal):
            lam[at] = (side * w * rho * (1 - rho)).sum()
            mu[at] = (w * rho * (1 - rho) * (1 - 2 * rho)).sum()
        else:
            lam[at], mu[at] = (side * w * rho).sum(), (w * rho * (1 - rho)).sum()
    return lam, mu
