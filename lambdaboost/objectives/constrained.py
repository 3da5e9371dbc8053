"""Constrained: keep one measure, raise others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.objective import Floats, Objective, check_objective
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.base.wrapper import Wrapper
from lambdaboost.objectives.combiners.parts import parts_of
from lambdaboost.objectives.combiners.scaled import Scaled
from lambdaboost.objectives.scorecard import Scorecard

REMEDY = (
    "train with lambdaboost.lightgbm.train or lambdaboost.xgboost.train, which train the single-goal model first, or "
    "give reference=(…), its measure on the training data after each round"
)


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class Constrained(Objective):
    r"""Keep the measure of one objective near that of its own model, and raise others.

    Parameters
    ----------
    primary : Objective
    raise_ : Objective or tuple of Objective
    keep : float in (0, 1)
    reference : tuple of floats, optional

    """

    primary: Objective
    raise_: Objective
    keep: float = 0.005
    reference: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_objective("primary", self.primary)
        if isinstance(self.raise_, tuple | list):
            if not self.raise_:
                raise ValueError("raise_ is empty: give at least one objective")
            equal = Scaled((1 / len(self.raise_),) * len(self.raise_))
            object.__setattr__(self, "raise_", Scorecard(tuple(self.raise_), equal))
        check_objective("raise_", self.raise_)

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return tuple(dict.fromkeys(self.primary.sources + self.raise_.sources))

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ and μ of every document at a round."""
        parts = parts_of((self.primary, self.raise_), scores, q, iteration)
        w = self.weight(scores, q, iteration) if parts.live[1] else 1.0
        return parts.combined(np.array([w, 1 - w]))

    def weight(self, scores: Floats, q: Queries, iteration: int) -> float:
        """w of the primary objective at a round: its shortfall in units of the tolerance, clipped to [0, 1]."""
        if iteration == 0:
            return 0.0
        shortfall = self.reference[iteration - 1] - self.primary.measure(scores, q)
        return float(np.clip(shortfall / self.keep, 0.0, 1.0))
