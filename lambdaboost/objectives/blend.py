"""Blend: the weighted mean of two objectives, with a weight that may change by round."""

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
from lambdaboost.objectives.gradient_step import GradientStep
from lambdaboost.objectives.kernels.pair_rule import Derivatives, PairRule, no_order
from lambdaboost.objectives.schedules import Schedule, weight_at


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class Blend(Objective):
    r"""The λ-gradients of two objectives in proportion (2011 paper, eqs. 10 and 12).

    :math:`\lambda = (1 - w_m)\,\lambda_1 + w_m\,\lambda_2` and μ in the same way, at round m.

    Parameters
    ----------
    first, second : Objective
    weight : float in [0, 1], a schedule, or a combiner
        w of the second: a number, `Constant`, `Linear`, `Exponential`, or any function of the round. A combiner
        such as ``Scaled((0.9, 0.1))`` weights both, as in `Scorecard`.

    Examples
    --------
    >>> from lambdaboost import Blend, LambdaRank, Linear, RankNet
    >>> Blend(LambdaRank(), RankNet(), Linear(0.1, 0.001))
    Blend(first=LambdaRank(), second=RankNet(), weight=Linear(start=0.1, rate=0.001))

    """

    first: Objective
    second: Objective
    weight: float | Schedule | Combiner

    def __post_init__(self) -> None:
        check_part("first", self.first)
        check_part("second", self.second)
        refuse_class("weight", self.weight)
        if isinstance(self.weight, Combiner):
            check_combination(self.weight, (self.first, self.second))
        elif not callable(self.weight):
            check_number("weight", self.weight, 0, 1)

    @property
    def curvature_changes_sign(self) -> bool:  # type: ignore[override]
        """Whether μ can be negative."""
        return self.first.curvature_changes_sign or self.second.curvature_changes_sign

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Whether either part's does, or costs are read."""
        reads_costs = isinstance(self.weight, Combiner) and self.weight.reads_costs
        return reads_costs or self.first.ranks_ties_by_row or self.second.ranks_ties_by_row

    @property
    def reads_positions(self) -> bool:  # type: ignore[override]
        """Whether either part does."""
        return self.first.reads_positions or self.second.reads_positions

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        own = self.weight.sources if isinstance(self.weight, Combiner) else ()
        return tuple(dict.fromkeys(self.first.sources + self.second.sources + own))

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return self.first.allows_negative and self.second.allows_negative

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None; a ValueError if the two objectives differ."""
        return common_row_weights((self.first, self.second), q)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document at a round."""
        if isinstance(self.weight, Combiner):
            return combined(self.weight, (self.first, self.second), scores, q, iteration)
        w = weight_at(self.weight, iteration)
        if w == 0:
            return self.first.lambdas(scores, q, iteration)
        if w == 1:
            return self.second.lambdas(scores, q, iteration)
        one, two = self.first.rule, self.second.rule
        if one is not None and two is not None:
            return _of_rules(one, two, w, scores, q)
        lam_1, mu_1 = self.first.lambdas(scores, q, iteration)
        lam_2, mu_2 = self.second.lambdas(scores, q, iteration)
        return (1 - w) * lam_1 + w * lam_2, (1 - w) * mu_1 + w * mu_2


def _of_rules(
    one: PairRule, two: PairRule, w: float, scores: Floats, q: Queries
) -> tuple[Derivatives, Derivatives]:
    """Both in one pass over the pairs where only their forces differ, otherwise in two passes after one sort."""
    together = one.blended(two, w)
    if together is not None:
        return together.lambdas(scores, q)
    order = no_order(q)
    lam, mu = one.lambdas(scores, q, order)
    lam_2, mu_2 = two.lambdas(scores, q, order)
    for first, second in ((lam, lam_2), (mu, mu_2)):
        first *= 1 - w
        second *= w
        first += second
    return lam, mu


def blend_weight(objective: Objective, iteration: int) -> float | None:
    """The weight of the second part of a blend at a round; None without a blend, or with a combiner."""
    if isinstance(objective, GradientStep):
        return blend_weight(objective.objective, iteration)
    if not isinstance(objective, Blend) or isinstance(objective.weight, Combiner):
        return None
    return weight_at(objective.weight, iteration)
