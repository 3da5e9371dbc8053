"""`Scaled`: weights of λ that have the same norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.registry import COMBINERS
from lambdaboost.objectives.combiners.combiner import Combiner, Weights, check_length, entries_of
from lambdaboost.objectives.combiners.parts import Parts
from lambdaboost.objectives.schedules import Schedule, weight_at


@COMBINERS.add
@dataclass(frozen=True, repr=False)
class Scaled(Combiner):
    r"""Fixed weights or schedules of λ that are scaled to one norm.

    The λ of objective k count :math:`w_k \lVert\lambda_1\rVert / \lVert\lambda_k\rVert` times. Numbers alone, as in
    ``Scorecard(…, (0.8, 0.2))``, weight the λ as they are. Those of a tier are often far smaller than those of the
    grades, since fewer pairs contribute, so that such weights are hard to choose.

    Parameters
    ----------
    weights : tuple of floats ≥ 0 or schedules, one for each objective

    Raises
    ------
    TypeError, ValueError
        For fewer than two weights, one below 0, or none above 0.

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, Linear, Scaled, Scorecard
    >>> Scorecard((LambdaRank(), ClickTier()), Scaled((1.0, Linear(0.0, 0.01))))
    Scorecard(objectives=(LambdaRank(), ClickTier()), weights=Scaled(weights=(1.0, Linear(start=0.0, rate=0.01))))

    """

    weights: tuple[float | Schedule, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", entries_of("weights", self.weights))
        for at, weight in enumerate(self.weights):
            if not callable(weight):
                check_number(f"weights[{at}]", weight, 0)
        if not any(callable(weight) or weight > 0 for weight in self.weights):
            raise ValueError(f"weights is {self.weights!r}: give at least one weight above 0")

    def check_parts(self, count: int) -> None:
        """Raise ValueError unless there is one weight for each."""
        check_length("weights", self.weights, count)

    def weigh(self, parts: Parts) -> Weights:
        """The weights of the round."""
        return np.array([weight_at(w, parts.iteration, high=float("inf")) for w in self.weights])
