"""Scorecard: the weighted sum of any number of objectives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.objective import Floats, Objective, check_part, common_row_weights
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.combiners.combine import check_combination, combined
from lambdaboost.objectives.combiners.combiner import Combiner, refuse_class
from lambdaboost.objectives.kernels.pair_rule import Derivatives
from lambdaboost.objectives.schedules import Schedule, weight_at


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class Scorecard(Objective):
    r"""A weighted sum of objectives, each over its own label source: the 2011 paper's scorecard (§1, §7).

    :math:`\lambda = \sum_k w_k \lambda_k` and μ in the same way.

    Parameters
    ----------
    objectives : tuple of Objective
    weights : tuple of floats ≥ 0 or schedules, one for each objective; or a combiner
        A combiner, such as `Scaled`, `MinNorm` or `ExactPareto`, scales λ to one norm, and can depend on their costs.

    Examples
    --------
    >>> from lambdaboost import ClickTier, CNDCG, LambdaRank, Scorecard
    >>> tiers = (LambdaRank(), ClickTier(), ClickTier(source="fresh", within=("relevance", "clicks")))
    >>> Scorecard(tiers, (0.8, 0.15, 0.05)).sources
    ('relevance', 'clicks', 'fresh')

    """

    objectives: tuple[Objective, ...]
    weights: tuple[float | Schedule, ...] | Combiner

    def __post_init__(self) -> None:
        object.__setattr__(self, "objectives", tuple(self.objectives))
        if not self.objectives:
            raise ValueError("objectives is empty: give at least one")
        for at, objective in enumerate(self.objectives):
            check_part(f"objectives[{at}]", objective)
        refuse_class("weights", self.weights)
        if isinstance(self.weights, Combiner):
            check_combination(self.weights, self.objectives)
            return
        object.__setattr__(self, "weights", tuple(self.weights))
        if len(self.objectives) != len(self.weights):
            raise ValueError(
                f"{len(self.objectives)} objectives but {len(self.weights)} weights: give one weight each"
            )
        for at, weight in enumerate(self.weights):
            if not callable(weight):
                check_number(f"weights[{at}]", weight, 0)

    @property
    def curvature_changes_sign(self) -> bool:  # type: ignore[override]
        """Whether μ can be negative."""
        return any(objective.curvature_changes_sign for objective in self.objectives)

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Whether any part's does, or costs are read."""
        reads_costs = isinstance(self.weights, Combiner) and self.weights.reads_costs
        return reads_costs or any(objective.ranks_ties_by_row for objective in self.objectives)

    @property
    def reads_positions(self) -> bool:  # type: ignore[override]
        """Whether any part does."""
        return any(objective.reads_positions for objective in self.objectives)

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        own = self.weights.sources if isinstance(self.weights, Combiner) else ()
        return tuple(dict.fromkeys([*(name for part in self.objectives for name in part.sources), *own]))

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return all(objective.allows_negative for objective in self.objectives)

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None; a ValueError if the objectives differ."""
        return common_row_weights(self.objectives, q)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document at a round."""
        if isinstance(self.weights, Combiner):
            return combined(self.weights, self.objectives, scores, q, iteration)
        lam, mu = np.zeros(q.n_documents), np.zeros(q.n_documents)
        for objective, weight in zip(self.objectives, self.weights, strict=True):
            w = weight_at(weight, iteration, high=float("inf"))
            if w > 0:
                part_lam, part_mu = objective.lambdas(scores, q, iteration)
                lam += w * part_lam
                mu += w * part_mu
        return lam, mu
