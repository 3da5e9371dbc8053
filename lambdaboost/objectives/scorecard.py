"""Scorecard: the weighted sum of any number of objectives."""

from __future__ import annotations

from math import inf

import numpy as np

from lambdaboost._checks import check_tuple
from lambdaboost.datasets import Queries
from lambdaboost.objectives.composite import Composite
from lambdaboost.objectives.kernels.prepared import Round, no_order
from lambdaboost.objectives.objective import LambdaMu, Lambdas, Objective, check_part
from lambdaboost.objectives.scaled import Gradients, Scaled
from lambdaboost.objectives.schedules import Schedule, check_weight, weight_at


class WeightedSum(Composite, registered=False):
    """A sum of `parts` with weights of the round."""

    def weights_at(self, iteration: int) -> tuple[float, ...]:
        """The weight of each part at a round, ≥ 0."""
        raise NotImplementedError

    def _prepare(self, q: Queries) -> Lambdas:
        parts = [part.prepare(q) for part in self.parts]

        def lambdas(now: Round) -> LambdaMu:
            if now.order is None:
                now = now._replace(order=no_order(now.scores.size))
            lam, mu = np.zeros((2, now.scores.size))
            for weight, part in zip(self.weights_at(now.iteration), parts, strict=True):
                if weight > 0:  # 0 times what overflows is NaN
                    of_part = part(now)
                    lam += np.multiply(of_part[0], weight, dtype=np.float64)
                    mu += np.multiply(of_part[1], weight, dtype=np.float64)
            return lam, mu

        return lambdas


class Scorecard(WeightedSum):
    r"""A weighted sum of objectives, each over its own label source: the 2011 paper's scorecard (§1, §7).

    :math:`\lambda = \sum_k w_k \lambda_k` and μ in the same way.

    Parameters
    ----------
    objectives : tuple of Objective
    weights : tuple of floats ≥ 0 or schedules, one for each objective; or `Scaled`
        `Scaled` scales all λ to one norm first.

    Examples
    --------
    >>> from lambdaboost import ClickTier, CNDCG, LambdaRank, Scorecard
    >>> tiers = (LambdaRank(), ClickTier(), ClickTier(source="fresh", within=("relevance", "clicks")))
    >>> Scorecard(tiers, (0.8, 0.15, 0.05)).sources
    ('relevance', 'clicks', 'fresh')

    """

    objectives: tuple[Objective, ...]
    weights: tuple[float | Schedule, ...] | Scaled

    def __post_init__(self) -> None:
        check_tuple("objectives", self.objectives, "(LambdaRank(),)")
        if not self.objectives:
            raise ValueError("objectives is empty: give at least one")
        for at, objective in enumerate(self.objectives):
            check_part(f"objectives[{at}]", objective)
        if not isinstance(self.weights, Scaled):
            check_tuple("weights", self.weights, "(1.0,), or Scaled((0.8, 0.2))")
        if len(self.objectives) != len(self._weights):
            raise ValueError(
                f"{len(self.objectives)} objectives but {len(self._weights)} weights: give one weight each"
            )
        for at, weight in enumerate(self._weights):
            check_weight(f"weights[{at}]", weight)

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objectives."""
        return self.objectives

    @property
    def scaled(self) -> Scaled | None:
        """The weights, if they are `Scaled`."""
        return self.weights if isinstance(self.weights, Scaled) else None

    @property
    def _weights(self) -> tuple[float | Schedule, ...]:
        return self.weights.weights if isinstance(self.weights, Scaled) else self.weights

    def weights_at(self, iteration: int) -> tuple[float, ...]:
        """The weights of a round."""
        return tuple(weight_at(weight, iteration, high=inf) for weight in self._weights)

    def _prepare(self, q: Queries) -> Lambdas:
        if self.scaled is None:
            return super()._prepare(q)
        return lambda now: Gradients(self.parts, now.scores, q, now.iteration).scaled_sum(
            np.array(self.weights_at(now.iteration))
        )
