"""`Trial`: a setting that a search tries, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Trial:
    """A trial of a search, "begun", "complete", "pruned", or "late" if the search's time ended first."""

    number: int
    candidate: int  # its place among the candidates
    asked: Mapping[str, float]  # what the sampler drew, by the names in the search
    knobs: Mapping[str, float]  # the same by the names of the knobs, rounded
    state: str = "begun"
    values: NDArray[np.float64] = field(
        default_factory=lambda: np.empty((0, 0))
    )  # by measure and query, or NaN
    means: tuple[float, ...] = ()  # of each measure, over the queries that have a value
    folds: int = 0  # how many were trained
    rounds: int = 0  # the best number for these folds together
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    own: bool = False  # whether its parameters are the engine's own, in place of knobs

    @property
    def is_complete(self) -> bool:
        """Whether it was trained to its end, in every fold."""
        return self.state == "complete"


def means_of(values: NDArray[np.float64], weight: NDArray[np.float64]) -> tuple[float, ...]:
    """The weighted mean of each row over the queries that have a value; NaN where none has."""
    known = ~np.isnan(values)
    total = (weight * known).sum(axis=1)
    sums = np.where(known, values, 0.0) @ weight
    means: list[float] = np.divide(sums, total, out=np.full(len(values), np.nan), where=total > 0).tolist()
    return tuple(means)


def by_mean(trials: Iterable[Trial]) -> list[Trial]:
    """The complete trials, the highest first measure first, the simplest and earliest of equal ones."""
    complete = (trial for trial in trials if trial.is_complete)
    return sorted(complete, key=lambda trial: (-trial.means[0], trial.candidate, trial.number))
