"""A pair rule as a value: which pairs, what a swap is worth, which force; and its λ and μ."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.kernels.levels import levels
from lambdaboost.objectives.kernels.pairs import pair_gradient
from lambdaboost.objectives.kernels.tiles import Local, Logistic, Mixed
from lambdaboost.objectives.swaps.of_measure import no_measure, parts

Floats = NDArray[np.float64]


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

    def lambdas(self, scores: Floats, q: Queries) -> tuple[Floats, Floats]:
        """λ and μ of every document."""
        return self.lambdas_and_order(scores, q)[:2]

    def lambdas_and_order(
        self, scores: Floats, q: Queries, order: NDArray[np.int32] | None = None
    ) -> tuple[Floats, Floats, NDArray[np.int32]]:
        """λ, μ and the documents by score, which another rule over the same scores can be handed as `order`."""
        pairs = levels(q, self.source, self.within, self.skip_zero)
        swap, gains, discounts, cutoff = no_measure(q) if self.metric is None else parts(self.metric, q)
        lam, mu, order = pair_gradient(
            scores, q, pairs, swap, self._force(), gains, discounts, cutoff, self.sigma, self.center, order
        )
        if self.sigma != 1:
            lam *= self.sigma
            mu *= self.sigma**2
        return lam, mu, order
