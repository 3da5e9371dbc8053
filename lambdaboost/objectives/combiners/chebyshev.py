"""`Chebyshev`: the weight goes to the objective with the largest weighted cost."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number
from lambdaboost.objectives.combiners.combiner import Combiner
from lambdaboost.objectives.combiners.gradients import Gradients

TEMPERATURE = 0.05


class Chebyshev(Combiner):
    r"""Weighted Chebyshev scalarisation: lower the largest of :math:`w_k c_k`, where :math:`c_k = 1 - Z_k`.

    .. math:: \alpha_k \propto \exp\Big(\frac{1}{T}\,\frac{w_k c_k}{\max_j w_j c_j}\Big),

    (Steuer and Choo 1983, smoothed as by Lin et al. 2024): a soft maximum, with T = 0.05, since a hard one would jump
    between objectives. The further factor :math:`w_k` of its gradient is left out, for all λ have one norm.
    :math:`Z_k` is the measure of objective k (`Objective.measure`) on the training data, over the queries on which it
    is defined. A sum of costs reaches only the convex part of the trade-off; the largest cost reaches all of it.

    Parameters
    ----------
    weights : tuple of floats > 0, one for each objective

    Examples
    --------
    >>> from lambdaboost import Chebyshev, LambdaRank, RankNet, Scorecard
    >>> Scorecard((LambdaRank(), RankNet()), Chebyshev((1.0, 2.0)))
    Scorecard(objectives=(LambdaRank(), RankNet()), weights=Chebyshev(weights=(1.0, 2.0)))

    """

    one_each: ClassVar[str] = "weights"
    reads_costs: ClassVar[bool] = True

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for at, weight in enumerate(self.weights):
            check_number(f"weights[{at}]", weight, above=0)

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The soft maximum, among the objectives with any force."""
        live = gradients.live
        costs = np.where(live, np.array(self.weights) * gradients.costs, 0.0)
        if costs.max() <= 0:
            return live / max(live.sum(), 1)
        soft = np.where(live, np.exp((costs / costs.max() - 1) / TEMPERATURE), 0.0)
        return soft / soft.sum()
