"""Objectives that can be computed although no worker has all queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lambdaboost.engines.cluster import check_distributed
from lambdaboost.engines.leaves import Leaves, stepped
from lambdaboost.engines.native import read_objective
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.wrapper import Wrapper


def distributed(objective: Objective | str, leaves: Leaves) -> Objective:
    """The objective for the engine; raises if it depends on all queries together."""
    rule = stepped(read_objective(objective), leaves)
    check_distributed(rule, leaves)
    return rule


@dataclass(frozen=True, repr=False)
class Lasting(Wrapper):
    """An objective that records an error and continues the training without gradients.

    LightGBM's other workers would wait forever for a worker that stops.
    """

    objective: Objective
    errors: list[Exception] = field(default_factory=list, compare=False)

    def gradient_on(self, scores: Any, data: Any, iteration: int) -> Any:
        """Gradient and hessian on `data`; zeros and ones after an error."""
        if not self.errors:
            try:
                return self.objective.gradient_on(scores, data, iteration)
            except Exception as error:
                self.errors.append(error)
        return np.zeros(scores.size, dtype=np.float32), np.ones(scores.size, dtype=np.float32)
