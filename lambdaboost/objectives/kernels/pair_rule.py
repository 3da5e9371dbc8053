"""A pair rule as a value: which pairs, what a swap is worth, which force; and its λ and μ."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.kernels.gradient import pair_gradient
from lambdaboost.objectives.kernels.levels import levels
from lambdaboost.objectives.kernels.loss import Local, Logistic, Loss, Mixed
from lambdaboost.objectives.swaps.registry import pair_weights, unweighted

Floats = NDArray[np.float64]
Derivatives = NDArray[np.floating]  # λ or μ of every document; float32 where kernels give them


@dataclass(frozen=True)
class PairRule:
    """λ and μ summed over pairs that differ in `source`, tie in `within`, by so much of each force."""

    source: str
    metric: Measure | None = None  # whose swap weighs a pair; None weighs each 1
    within: tuple[str, ...] = ()
    skip_zero: bool = False
    sigma: float = 1.0
    center: float = 0.0
    logistic: float = 1.0
    local: float = 0.0

    def blended(self, other: PairRule, w: float) -> PairRule | None:
        """(1 − w) of this rule and w of the other in one pass, where they differ in the force alone."""
        if self.sigma != 1 or self._forceless() != other._forceless():
            return None
        return replace(
            self,
            logistic=(1 - w) * self.logistic + w * other.logistic,
            local=(1 - w) * self.local + w * other.local,
        )

    def _forceless(self) -> PairRule:
        return replace(self, logistic=0.0, local=0.0)

    def _force(self) -> Logistic | Local | Mixed:
        if (self.logistic, self.local) == (1, 0):
            return Logistic()
        if (self.logistic, self.local) == (0, 1):
            return Local()
        return Mixed(np.float32(self.logistic), np.float32(self.local))

    def lambdas(
        self, scores: Floats, q: Queries, order: NDArray[np.int32] | None = None
    ) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document; rules over the same scores can share an `order` from `no_order`."""
        pairs = levels(q, self.source, self.within, self.skip_zero)
        weights = unweighted(q) if self.metric is None else pair_weights(self.metric, q)
        loss = Loss(self._force(), float(self.sigma), float(self.center))
        lam, mu = pair_gradient(scores, q, pairs, weights, loss, order)
        if self.sigma != 1:
            lam *= np.float32(self.sigma)
            mu *= np.float32(self.sigma**2)
        return lam, mu


def no_order(q: Queries) -> NDArray[np.int32]:
    """Memory for an order that is not known yet."""
    return np.full(q.n_documents, -1, dtype=np.int32)
