"""Blend: the weighted mean of two objectives, with a weight that may change by round."""

from __future__ import annotations

from lambdaboost.objectives.objective import Objective, check_part
from lambdaboost.objectives.schedules import Schedule, check_weight, weight_at
from lambdaboost.objectives.scorecard import WeightedSum


class Blend(WeightedSum):
    r"""The λ-gradients of two objectives in proportion (2011 paper, eqs. 10 and 12).

    :math:`\lambda = (1 - w_m)\,\lambda_1 + w_m\,\lambda_2` and μ in the same way, at round m.

    Parameters
    ----------
    first, second : Objective
    weight : float in [0, 1], or a schedule
        w of the second: a number, `Constant`, `Linear`, `Exponential`, or any function of the round.

    Examples
    --------
    >>> from lambdaboost import Blend, LambdaRank, Linear, RankNet
    >>> Blend(LambdaRank(), RankNet(), Linear(0.1, 0.001))
    Blend(first=LambdaRank(), second=RankNet(), weight=Linear(start=0.1, rate=0.001))

    """

    first: Objective
    second: Objective
    weight: float | Schedule

    def __post_init__(self) -> None:
        check_part("first", self.first)
        check_part("second", self.second)
        check_weight("weight", self.weight, 1)

    @property
    def parts(self) -> tuple[Objective, ...]:
        """Both objectives."""
        return self.first, self.second

    def weights_at(self, iteration: int) -> tuple[float, ...]:
        """The weights of a round."""
        w = weight_at(self.weight, iteration)
        return 1 - w, w
