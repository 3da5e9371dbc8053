"""`Chebyshev`: the weight goes to the objective with the largest weighted cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.registry import COMBINERS
from lambdaboost.objectives.combiners.combiner import Combiner, Weights, check_length, entries_of
from lambdaboost.objectives.combiners.parts import Parts

LEAST_TEMPERATURE = 0.001


@COMBINERS.add
@dataclass(frozen=True, repr=False)
class Chebyshev(Combiner):
    r"""Weighted Chebyshev scalarisation: lower the largest of :math:`w_k c_k`, where :math:`c_k = 1 - Z_k`.

    .. math:: \alpha_k \propto \exp\Big(\frac{1}{T}\,\frac{w_k c_k}{\max_j w_j c_j}\Big),

    (Steuer and Choo 1983, smoothed as by Lin et al. 2024): a soft maximum, since a hard one would jump between
    objectives. The further factor :math:`w_k` of its gradient is left out, for all λ have one norm. :math:`Z_k` is the
    measure of objective k (`Objective.measure`) on the training data, over the queries on which it is defined. A sum of
    costs reaches only the convex part of the trade-off; the largest cost reaches all of it.

    Parameters
    ----------
    weights : tuple of floats > 0, one for each objective
    temperature : float
        T ≥ 0.001, in units of the largest :math:`w_k c_k`; towards 0 all weight is on the largest.

    Raises
    ------
    TypeError, ValueError
        For weights that are not two or more numbers > 0; for a lower temperature, with which weights would jump.

    Examples
    --------
    >>> from lambdaboost import Chebyshev, LambdaRank, RankNet, Scorecard
    >>> Scorecard((LambdaRank(), RankNet()), Chebyshev((1.0, 2.0)))
    Scorecard(objectives=(LambdaRank(), RankNet()), weights=Chebyshev(weights=(1.0, 2.0)))

    """

    reads_costs: ClassVar[bool] = True

    weights: tuple[float, ...]
    temperature: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", entries_of("weights", self.weights))
        for at, weight in enumerate(self.weights):
            check_number(f"weights[{at}]", weight, 0, open_low=True)
        check_number("temperature", self.temperature, LEAST_TEMPERATURE)

    def check_parts(self, count: int) -> None:
        """Raise ValueError unless there is one weight for each."""
        check_length("weights", self.weights, count)

    def weigh(self, parts: Parts) -> Weights:
        """The soft maximum, among the objectives with any force."""
        live = parts.live
        costs = np.where(live, np.array(self.weights) * parts.costs, 0.0)
        if costs.max() <= 0:
            return live / max(live.sum(), 1)
        soft = np.where(live, np.exp((costs / costs.max() - 1) / self.temperature), 0.0)
        return soft / soft.sum()
