"""`Curve`: the rounds of a setting, one number for all of its folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curve:
    """The mean of a measure over the queries of some folds, after each round that all of them were trained for.

    One number of rounds for all folds is less optimistic than the best of each: a fold's own best is chosen by few
    queries. A fold ends when the mean over it and the folds before has not risen for some rounds, so that later folds
    seldom miss the best round of all.

    >>> together = Curve((0.5, 0.7, 0.6), 10).joined((0.2, 0.2, 0.4, 0.9), 20)
    >>> [round(value, 3) for value in together.values], together.best
    ([0.3, 0.367, 0.467], 3)
    """

    values: tuple[float, ...] = ()
    weight: float = 0.0  # of the queries that the mean is of

    def joined(self, values: Sequence[float], weight: float) -> Curve:
        """With a further fold, whose queries weigh `weight`: the rounds that both have, unless one has no queries."""
        if not self.values or not weight:
            return Curve(tuple(values), weight) if weight else self
        pairs = zip(self.values, values, strict=False)
        total = self.weight + weight
        return Curve(tuple((self.weight * a + weight * b) / total for a, b in pairs), total)

    @property
    def best(self) -> int:
        """The number of rounds with the highest mean, the lowest of several; 1 if there is none."""
        return int(np.argmax(self.values)) + 1 if self.values else 1

    def stalls(self, patience: int) -> bool:
        """Whether the last `patience` rounds have brought nothing."""
        return len(self.values) - self.best >= patience
