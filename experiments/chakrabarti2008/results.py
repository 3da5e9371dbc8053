"""All runs of the 2008 paper's trainers, and the selected ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from experiments.chakrabarti2008.scaling import measure_growth
from experiments.chakrabarti2008.trainers import HINGES, MCRANK, MEASURES, Run, train, train_mcrank
from experiments.common.data import Data, Fold
from experiments.common.script import note
from experiments.common.verdicts import Figures, joined

GRID, QUICK_GRID = (1e-3, 0.01, 0.1, 1.0, 10.0, 100.0), (0.01, 0.1)
RANDOM = "random order"


@dataclass(frozen=True, eq=False)
class Results:
    """All runs by trainer and fold, and the time of the search for ŷ."""

    data: Data
    threshold: float
    grid: tuple[float, ...]
    seed: int
    runs: dict[tuple[str, str], tuple[Run, ...]]
    growth: dict[str, dict[int, float]]

    @property
    def trainers(self) -> tuple[str, ...]:
        """Names in the order of the table."""
        return (*HINGES, MCRANK)

    def selected(self, trainer: str, fold: Fold) -> Run:
        """The run with the highest mean of the three measures on validation queries; the lowest C among ties."""
        q = self.data.joined(fold.valid).queries
        return max(
            self.runs[trainer, fold.name], key=lambda run: np.mean([m(run.valid, q) for m in MEASURES])
        )

    @cached_property
    def figures(self) -> dict[str, Figures]:
        """Test values of each trainer on the queries of all folds, and those of random rankings."""
        rng = np.random.default_rng(self.seed)
        parts: dict[str, list[Figures]] = {name: [] for name in (*self.trainers, RANDOM)}
        for fold in self.data.folds:
            q = self.data.joined(fold.test).queries
            for name in self.trainers:
                scores = self.selected(name, fold).test
                parts[name].append({m: m.per_query(scores, q) for m in MEASURES})
            drawn = [rng.random(q.n_documents) for _ in range(20)]
            means = {m: np.mean([m.per_query(s, q) for s in drawn], axis=0) for m in MEASURES}
            parts[RANDOM].append(means)
        return {name: joined(some) for name, some in parts.items()}


def train_all(
    data: Data, threshold: float, grid: tuple[float, ...], sizes: tuple[int, ...], seed: int
) -> Results:
    """Train by every rule at every C on every fold, and time the search for ŷ on lists of several sizes."""
    _, q = data.joined(data.folds[0].valid)
    for hinge in HINGES.values():
        hinge.violators(np.zeros(q.n_documents), q)  # compiles or loads kernels before timing
    runs = {}
    for fold in data.folds:
        parts = data.joined(fold.train), data.joined(fold.valid), data.joined(fold.test)
        for name, hinge in HINGES.items():
            runs[name, fold.name] = tuple(train(hinge, C, parts) for C in grid)
        runs[MCRANK, fold.name] = (train_mcrank(parts, seed),)
        note(f"{fold.name} is trained")
    return Results(data, threshold, grid, seed, runs, measure_growth(sizes, seed))
