"""`Composite` and `Wrapper`: objectives made from others, which read what those read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.no_pair import NoPair
from lambdaboost.objectives.objective import Objective


def _of_parts(any_or_all: Callable[[Iterable[bool]], bool], trait: str) -> Any:
    """A property: whether any part has this trait, or all have."""
    return property(lambda composite: any_or_all(getattr(part, trait) for part in composite.parts))


class Composite(Objective, registered=False):
    """An objective computed from `parts`."""

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objectives that it is computed from."""
        raise NotImplementedError

    curvature_changes_sign = _of_parts(any, "curvature_changes_sign")
    ranks_ties_by_row = _of_parts(any, "ranks_ties_by_row")
    reads_positions = _of_parts(any, "reads_positions")
    can_be_part = _of_parts(all, "can_be_part")
    allows_negative = _of_parts(all, "allows_negative")

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that the parts read."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.sources))

    def without_pair(self, q: Queries) -> tuple[NoPair, ...]:
        """Those of its parts that have no two documents to order in any of these queries."""
        return tuple(dict.fromkeys(found for part in self.parts for found in part.without_pair(q)))

    def has_pair(self, q: Queries) -> bool:
        """Whether any part has two documents to order in one of these queries."""
        return any(part.has_pair(q) for part in self.parts)


class Wrapper(Composite, registered=False):
    """An objective computed from another one, `objective`."""

    objective: Objective

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objective."""
        return (self.objective,)

    @property
    def measure(self) -> Measure:
        """The measure of the objective."""
        return self.objective.measure
