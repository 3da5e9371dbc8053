"""`Wrapper`: what objectives made from another one have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.base.objective import Objective


class Wrapper(Objective):
    """An objective computed from another one, `objective`; it reads what that one reads."""

    objective: Objective

    @property
    def curvature_changes_sign(self) -> bool:  # type: ignore[override]
        """Whether μ can be negative."""
        return self.objective.curvature_changes_sign

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Whether the objective does."""
        return self.objective.ranks_ties_by_row

    @property
    def reads_positions(self) -> bool:  # type: ignore[override]
        """Whether the objective does."""
        return self.objective.reads_positions

    @property
    def can_be_part(self) -> bool:  # type: ignore[override]
        """Whether the objective can be a part of others."""
        return self.objective.can_be_part

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None."""
        return self.objective.row_weights(q)

    @property
    def measure(self) -> Measure:
        """The measure of the objective."""
        return self.objective.measure

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return self.objective.sources

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return self.objective.allows_negative
