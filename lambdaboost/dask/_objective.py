"""Objectives that can be computed although no worker has all queries."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from lambdaboost.engines.leaves import Leaves, stepped
from lambdaboost.engines.native import read_objective
from lambdaboost.objectives import GradientStep, Objective


def distributed(objective: Objective | str, leaves: Leaves) -> Objective:
    """The objective for the engine; raises if it depends on all queries together."""
    rule = stepped(read_objective(objective), leaves)
    if leaves == "newton":
        raise ValueError(
            "leaves='newton' on a cluster: both engines would compute a leaf from one worker's rows; "
            "use leaves='gradient' or 'engine'"
        )
    _refuse_sums_over_all(rule)
    return rule


def _refuse_sums_over_all(objective: Objective) -> None:
    if isinstance(objective, GradientStep) and objective.normalize == "all":
        raise ValueError(
            f"{objective!r} divides by the standard deviation of all λ, and no worker has all of them: "
            "use normalize='query'"
        )
    for part in fields(objective):  # type: ignore[arg-type]
        value = getattr(objective, part.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Objective):
                _refuse_sums_over_all(inner)


@dataclass(frozen=True, repr=False)
class Lasting(Objective):
    """An objective that records an error and continues the training without gradients.

    LightGBM's other workers would wait forever for a worker that stops.
    """

    objective: Objective
    errors: list[Exception] = field(default_factory=list, compare=False)

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Whether the objective does."""
        return self.objective.ranks_ties_by_row

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return self.objective.sources

    def gradient_on(self, scores: Any, data: Any, iteration: int) -> Any:
        """Gradient and hessian on `data`; zeros and ones after an error."""
        if not self.errors:
            try:
                return self.objective.gradient_on(scores, data, iteration)
            except Exception as error:
                self.errors.append(error)
        return np.zeros(scores.size, dtype=np.float32), np.ones(scores.size, dtype=np.float32)
