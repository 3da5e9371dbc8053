"""`Scaled`: weights of λ that have the same norm."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.objectives.combiners.combiner import Combiner
from lambdaboost.objectives.combiners.gradients import Gradients
from lambdaboost.objectives.schedules import Schedule, check_weight, weight_at


class Scaled(Combiner):
    r"""Fixed weights or schedules of λ that are scaled to one norm.

    The λ of objective k count :math:`w_k \lVert\lambda_1\rVert / \lVert\lambda_k\rVert` times. Numbers alone, as in
    ``Scorecard(…, (0.8, 0.2))``, weight the λ as they are. Those of a tier are often far smaller than those of the
    grades, since fewer pairs contribute, so that such weights are hard to choose.

    Parameters
    ----------
    weights : tuple of floats ≥ 0 or schedules, one for each objective

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, Linear, Scaled, Scorecard
    >>> Scorecard((LambdaRank(), ClickTier()), Scaled((1.0, Linear(0.0, 0.01))))
    Scorecard(objectives=(LambdaRank(), ClickTier()), weights=Scaled(weights=(1.0, Linear(start=0.0, rate=0.01))))

    """

    one_each: ClassVar[str] = "weights"

    weights: tuple[float | Schedule, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for at, weight in enumerate(self.weights):
            check_weight(f"weights[{at}]", weight)
        if not any(callable(weight) or weight > 0 for weight in self.weights):
            raise ValueError(f"weights is {self.weights!r}: give at least one weight above 0")

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The weights of the round."""
        return np.array([weight_at(w, gradients.iteration, high=inf) for w in self.weights])
