"""Scorecard: the weighted sum of any number of objectives."""

from __future__ import annotations

from lambdaboost._checks import check_tuple
from lambdaboost.datasets import Queries
from lambdaboost.objectives.bound import weighted_sum
from lambdaboost.objectives.kernels.prepared import LambdaFunction, LambdaMu, Round
from lambdaboost.objectives.objective import Objective, check_objective
from lambdaboost.objectives.schedules import Schedule, check_weight, weight_at


class Scorecard(Objective):
    r"""A weighted sum of objectives, each over its own label source: the 2011 paper's scorecard (§1, §7).

    :math:`\lambda = \sum_k w_k \lambda_k` and μ in the same way. The λ of a lower tier are often much smaller than
    those of the first, since fewer pairs contribute; to weigh two labels freely, train a model on each and
    `lambdaboost.merge` them.

    Parameters
    ----------
    objectives : tuple of Objective
    weights : tuple of floats ≥ 0 or schedules, one for each objective

    Examples
    --------
    >>> from lambdaboost import ClickTier, CNDCG, LambdaRank, Scorecard
    >>> tiers = (LambdaRank(), ClickTier(), ClickTier(source="fresh", within=("relevance", "clicks")))
    >>> Scorecard(tiers, (0.8, 0.15, 0.05)).sources
    ('relevance', 'clicks', 'fresh')

    """

    objectives: tuple[Objective, ...]
    weights: tuple[float | Schedule, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tuple("objectives", self.objectives, "(LambdaRank(),)")
        if not self.objectives:
            raise ValueError("objectives is empty: give at least one")
        for index, objective in enumerate(self.objectives):
            check_objective(f"objectives[{index}]", objective)
        check_tuple("weights", self.weights, "(1.0,)")
        if len(self.objectives) != len(self.weights):
            raise ValueError(
                f"{len(self.objectives)} objectives but {len(self.weights)} weights: give one weight each"
            )
        for index, weight in enumerate(self.weights):
            check_weight(f"weights[{index}]", weight)

    def prepare(self, q: Queries) -> LambdaFunction:
        """The weighted sum of the parts."""
        parts, weights = [part.prepare(q) for part in self.parts], self.weights

        def lambda_mu(now: Round) -> LambdaMu:
            of_round = [weight_at(w, now.iteration) if callable(w) else w for w in weights]
            return weighted_sum(now, of_round, parts)

        return lambda_mu
