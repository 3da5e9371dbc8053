"""The 2011 paper's protocol: sweep, select on validation data, test once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from experiments.common.data import Data, Fold
from experiments.common.script import note
from experiments.common.verdicts import Figures, joined
from experiments.svore2011.settings import (
    CUTOFFS,
    GROWING,
    SHARES,
    Grid,
    Setting,
    System,
    Trial,
    systems,
    trials_of,
)
from experiments.svore2011.training import Outcome, train_trials
from lambdaboost import CNDCG, NDCG
from lambdaboost._jit import using
from lambdaboost.evaluation import Measure

Runs = dict[Trial, Outcome]


@dataclass(frozen=True, eq=False)
class Results:
    """All runs by system and fold, those on shares of the training data, and the selected ones."""

    data: Data
    setting: Setting
    grid: Grid
    systems: tuple[System, ...]
    runs: dict[tuple[str, str], Runs]
    shares: dict[tuple[str, str, float], tuple[Trial, Outcome]]

    def selected(self, system: str, fold: Fold) -> tuple[Trial, Outcome]:
        """The run of a system with the best validation value on a fold, the first among ties."""
        return best_runs(self.runs[system, fold.name], 1)[0]

    @cached_property
    def per_fold(self) -> dict[tuple[str, str], Figures]:
        """Test values of each system on each fold: NDCG, and CNDCG of each click setting, at 1 to 10."""
        by_clicks = [CNDCG(k, source=clicks.name) for clicks in self.data.clicks for k in CUTOFFS]
        measures: list[Measure] = [*map(NDCG, CUTOFFS), *by_clicks]
        found: dict[tuple[str, str], Figures] = {}
        for fold in self.data.folds:
            q = self.data.joined(fold.test).queries
            for system in self.systems:
                scores = self.selected(system.name, fold)[1].test_scores
                values = {measure: measure.per_query(scores, q) for measure in measures}
                found[system.name, fold.name] = values
        return found

    @cached_property
    def figures(self) -> dict[str, Figures]:
        """Test values of each system on the queries of all folds."""
        return {
            system.name: joined([self.per_fold[system.name, fold.name] for fold in self.data.folds])
            for system in self.systems
        }

    def grown(self, system: str, measure: Measure) -> NDArray[np.float64]:
        """A measure for every test query at each of `SHARES` and at full training data, (n_shares, n_queries)."""
        rows = []
        for share in SHARES:
            parts = []
            for fold in self.data.folds:
                scores = self.shares[system, fold.name, share][1].test_scores
                parts.append(measure.per_query(scores, self.data.joined(fold.test).queries))
            rows.append(np.concatenate(parts))
        return np.array([*rows, self.figures[system][measure]])


def best_runs(runs: Runs, n: int) -> list[tuple[Trial, Outcome]]:
    """The n runs with the best validation values, ties in order."""
    return sorted(runs.items(), key=lambda run: -run[1].valid.max())[:n]


def run_protocol(data: Data, setting: Setting, grid: Grid, workers: int) -> Results:
    """Run all sweeps: baselines first, then systems that reuse their best parameters, then smaller training sets."""
    rows = systems(grid, [clicks.name for clicks in data.clicks])
    runs: dict[tuple[str, str], Runs] = {}
    work = delayed(partial(_on_one_thread, data, setting))

    def outcomes(trials: list[Trial]) -> Runs:
        done: Runs = {}
        for at in dict.fromkeys((trial.fold, trial.share) for trial in trials):
            here = [trial for trial in trials if (trial.fold, trial.share) == at]
            # Each worker makes the engine's data once for all its trials.
            chunks = [here[i::workers] for i in range(min(workers, len(here)))]
            for chunk, found in zip(chunks, Parallel(workers)(map(work, chunks)), strict=True):
                done.update(zip(chunk, found, strict=True))
            note(f"{at[0].name}, {at[1]:.0%} of the training queries: {len(here)} runs done")
        return done

    for system in rows:
        trials = {}
        for fold in data.folds:
            steps = list(product(grid.rates, grid.documents))
            if system.follows is not None:
                best = best_runs(runs[system.follows, fold.name], grid.reused)
                steps = [(trial.rate, trial.documents) for trial, _ in best]
            trials[fold.name] = trials_of(system, fold, steps)
        done = outcomes([trial for some in trials.values() for trial in some])
        runs |= {(system.name, name): {trial: done[trial] for trial in some} for name, some in trials.items()}
    shared = {
        (system, fold.name, share): replace(best_runs(runs[system, fold.name], 1)[0][0], share=share)
        for fold in data.folds
        for share in SHARES
        for system in GROWING
    }
    done = outcomes(list(shared.values()))
    return Results(
        data, setting, grid, rows, runs, {at: (trial, done[trial]) for at, trial in shared.items()}
    )


def _on_one_thread(data: Data, setting: Setting, trials: Sequence[Trial]) -> list[Outcome]:
    with using(1):
        return train_trials(data, setting, trials)
