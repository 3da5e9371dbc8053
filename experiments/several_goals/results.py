"""The figures of all systems, pooled over folds and seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from experiments.several_goals.methods import FIRST, SECOND_ALONE
from experiments.several_goals.sets import Goals
from experiments.several_goals.training import Outcome, Task

RESAMPLES = 1000
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OfSet:
    """The figures of a data set: by seed and fold, both measures of each test query by each system."""

    goals: Goals
    folds: dict[int, dict[int, Outcome]] = field(default_factory=dict)

    def add(self, task: Task, outcome: Outcome) -> None:
        """Add the outcome of a task."""
        self.folds.setdefault(task.seed, {}).setdefault(task.fold, {}).update(outcome)

    @property
    def systems(self) -> list[str]:
        """The names of all systems."""
        first = next(iter(next(iter(self.folds.values())).values()))
        return [name for name in first if name != "tested"]

    def of_seed(self, system: str, seed: int) -> Values:
        """Both measures of all test queries of a seed, in the order of the data, (2, n); NaN as is."""
        outcomes = self.folds[seed].values()
        values = np.concatenate([outcome[system] for outcome in outcomes], axis=1)
        ordered: Values = values[:, np.argsort(np.concatenate([outcome["tested"] for outcome in outcomes]))]
        return ordered

    def per_query(self, system: str) -> Values:
        """Both measures by query, (2, n): real queries averaged over the seeds, synthetic ones of all seeds."""
        by_seed = [self.of_seed(system, seed) for seed in self.folds]
        values: Values = np.mean(by_seed, axis=0) if self.goals.real else np.concatenate(by_seed, axis=1)
        return values[:, ~np.isnan(values).any(axis=0)]

    def volumes(self, fronts: Mapping[str, Sequence[str]]) -> dict[str, Values]:
        """The hypervolume of each front of systems, in squared points: the value, then those of resampled queries."""
        names = [FIRST, SECOND_ALONE, *dict.fromkeys(name for front in fronts.values() for name in front)]
        rng = np.random.default_rng(0)
        totals = {front: np.zeros(1 + RESAMPLES) for front in fronts}
        counts = None
        for seed in self.folds:
            values = np.array([self.of_seed(name, seed) for name in names])  # (systems, 2, queries)
            values = values[:, :, ~np.isnan(values).any(axis=(0, 1))]
            if counts is None or not self.goals.real:  # a query is resampled with its values of all seeds
                counts = _counts(values.shape[2], rng)
            means = 100 * np.einsum("bq,smq->bsm", counts, values, optimize=True)
            for front, members in fronts.items():
                at = [names.index(name) for name in members]
                totals[front] += [hypervolume(mean[at], mean[:2].min(axis=0)) for mean in means]
        return {front: total / len(self.folds) for front, total in totals.items()}


def hypervolume(points: Values, reference: Values) -> float:
    """The area between a front of points (n, 2) and a reference point below them (Zitzler and Thiele 1998).

    >>> hypervolume(np.array([[3, 1], [1, 2], [1, 1]]), np.array([0, 0]))
    4.0
    """
    sides = (points - reference)[(points > reference).all(axis=1)]
    sides = sides[np.argsort(-sides[:, 1], kind="stable")]
    return float(np.maximum.accumulate(sides[:, 0]) @ -np.diff(sides[:, 1], append=0.0))


def _counts(queries: int, rng: np.random.Generator) -> Values:
    """The share of each query in the mean, (1 + resamples, queries): first all alike, then as drawn."""
    drawn = rng.multinomial(queries, np.full(queries, 1 / queries), RESAMPLES)
    return np.vstack([np.ones(queries), drawn]) / queries
