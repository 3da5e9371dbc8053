"""`Trial`: a finished trial of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost.tuning.task import Outcome

RATE = "learning_rate"


@dataclass(frozen=True, eq=False)
class Trial:
    """A finished trial: its number, candidate, knobs, what the sampler asked for before rounding, and its result."""

    number: int
    candidate: int
    knobs: Mapping[str, float]
    asked: Mapping[str, float]
    outcome: Outcome

    @property
    def is_complete(self) -> bool:
        """Whether it was trained to its end, in every fold."""
        return self.outcome.state == "complete"

    @property
    def trainings(self) -> int:
        """How many trainings it took."""
        return len(self.outcome.curves)

    @property
    def reached(self) -> float:
        """The best value of the first measure in the first fold, after any round."""
        return float(np.nanmax(self.outcome.curves[0]))

    def means(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of each measure over the queries that have a value, (n_measures,)."""
        values = self.outcome.values
        known = ~np.isnan(values)
        total = (weight * known).sum(axis=1)
        sums = np.where(known, values, 0.0) @ weight
        return np.divide(sums, total, out=np.full(len(values), np.nan), where=total > 0)


def best_of(trials: Iterable[Trial], weight: NDArray[np.float64]) -> Trial | None:
    """The complete trial with the highest first measure, the earliest of equal ones."""
    complete = [trial for trial in trials if trial.is_complete]
    return max(complete, key=lambda trial: (trial.means(weight)[0], -trial.number), default=None)


def floor_of(
    trials: Sequence[Trial], knobs: Mapping[str, float], rounds: int, least: int
) -> NDArray[np.float64] | None:
    """The value after each round that every complete trial has reached; None for fewer than `least` of these.

    Small steps need more rounds: where the new trial, by its `knobs` of rate η, is at round m, a trial of rate η′ is
    read at round mη/η′.
    """
    complete = [trial for trial in trials if trial.is_complete]
    if len(complete) < least:
        return None
    done = np.arange(1, rounds + 1)
    read = []
    for trial in complete:
        so_far = np.maximum.accumulate(trial.outcome.curves[0])
        speed = knobs.get(RATE, 1.0) / trial.knobs.get(RATE, 1.0)
        read.append(so_far[np.clip(np.floor(done * speed).astype(int) - 1, 0, so_far.size - 1)])
    lowest: NDArray[np.float64] = np.min(read, axis=0)
    return lowest
