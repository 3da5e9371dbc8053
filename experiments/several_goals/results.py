"""The figures of all systems, pooled over folds and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from experiments.common.workers import Outcome
from experiments.several_goals.methods import FIRST, SECOND_ALONE
from experiments.several_goals.sets import Goals
from experiments.several_goals.study import Task
from lambdaboost.evaluation import Comparison, compare_values

RESAMPLES = 1000
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Results:
    """The outcome of every task."""

    sets: Mapping[str, Goals]
    outcomes: Mapping[Task, Outcome]

    def of(self, name: str) -> OfSet:
        """The figures of a data set."""
        return OfSet(self.sets[name], {t: o for t, o in self.outcomes.items() if t.data_set == name})


@dataclass(frozen=True, eq=False)
class OfSet:
    """The figures of a data set."""

    goals: Goals
    outcomes: Mapping[Task, Outcome]

    @cached_property
    def _tasks(self) -> dict[str, list[Task]]:
        """The tasks of each system, seed by seed."""
        found: dict[str, list[Task]] = {}
        for task, outcome in sorted(self.outcomes.items(), key=lambda item: (item[0].seed, item[0].fold)):
            for name in outcome:
                if name.endswith(" test"):
                    found.setdefault(name.removesuffix(" test"), []).append(task)
        return found

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of all systems."""
        return tuple(self._tasks)

    def seeds(self, system: str) -> tuple[int, ...]:
        """The seeds that a system has."""
        return tuple(dict.fromkeys(task.seed for task in self._tasks[system]))

    def of_fold(self, system: str, part: str, seed: int, fold: int) -> Values:
        """Both measures of the queries of a part where both are defined, (2, n)."""
        (task,) = (task for task in self._tasks[system] if (task.seed, task.fold) == (seed, fold))
        values = self.outcomes[task][f"{system} {part}"]
        return values[:, ~np.isnan(values).any(axis=0)]

    def of_seed(self, system: str, part: str, seed: int) -> Values:
        """Both measures of all queries of a part, pooled over the folds in the order of the data, (2, n); NaN as is."""
        tasks = [task for task in self._tasks[system] if task.seed == seed]
        values = np.concatenate([self.outcomes[task][f"{system} {part}"] for task in tasks], axis=1)
        if not self.goals.real:
            return values
        shift = 0 if part == "test" else 1  # a fold is validated on what the next one is tested on
        numbers = [self.outcomes[tasks[(at + shift) % len(tasks)]]["tested"] for at in range(len(tasks))]
        ordered: Values = values[:, np.argsort(np.concatenate(numbers))]
        return ordered

    def per_query(self, system: str, part: str = "test", seeds: Sequence[int] | None = None) -> Values:
        """Both measures by query, (2, n): real queries averaged over the seeds, synthetic ones of all seeds."""
        by_seed = [self.of_seed(system, part, seed) for seed in seeds or self.seeds(system)]
        values: Values = np.mean(by_seed, axis=0) if self.goals.real else np.concatenate(by_seed, axis=1)
        return values[:, ~np.isnan(values).any(axis=0)]

    def point(self, system: str, seeds: Sequence[int] | None = None) -> Values:
        """The means of both measures on test queries, (2,)."""
        mean: Values = self.per_query(system, "test", seeds).mean(axis=1)
        return mean

    def compared(self, systems: Iterable[str], part: str = "test") -> Comparison:
        """Systems with the first goal alone, on the seeds of all of them."""
        names = [FIRST, *systems]
        common = [seed for seed in self.seeds(FIRST) if all(seed in self.seeds(name) for name in names)]
        measures = self.goals.measures
        return compare_values(
            {name: dict(zip(measures, self.per_query(name, part, common), strict=True)) for name in names}
        )

    def volumes(
        self, fronts: Mapping[str, Sequence[str]], seeds: Sequence[int], seed: int = 0
    ) -> dict[str, Values]:
        """The hypervolume of each front of systems, in squared points: the value, then those of resampled queries."""
        names = [FIRST, SECOND_ALONE, *dict.fromkeys(name for front in fronts.values() for name in front)]
        rng = np.random.default_rng(seed)
        totals = {front: np.zeros(1 + RESAMPLES) for front in fronts}
        counts = None
        for s in seeds:
            values = np.array([self.of_seed(name, "test", s) for name in names])  # (systems, 2, queries)
            values = values[:, :, ~np.isnan(values).any(axis=(0, 1))]
            if counts is None or not self.goals.real:  # a query is resampled with its values of all seeds
                counts = _counts(values.shape[2], rng)
            means = 100 * np.einsum("bq,smq->bsm", counts, values, optimize=True)
            for front, members in fronts.items():
                at = [names.index(name) for name in members]
                totals[front] += [hypervolume(mean[at], mean[:2].min(axis=0)) for mean in means]
        return {front: total / len(seeds) for front, total in totals.items()}

    def seconds(self, system: str) -> Values:
        """Processor seconds of each task, (tasks, 3): the training, a gradient, a gradient of each goal alone."""
        return np.array([self.outcomes[task][f"{system} seconds"] for task in self._tasks[system]])


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
