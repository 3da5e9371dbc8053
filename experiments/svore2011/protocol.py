"""The 2011 paper's protocol: sweep, select on validation data, test once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation import CNDCG, NDCG, Figures, Measure
from lambdaboost.reproduce.data import Data, Fold
from lambdaboost.reproduce.pool import Pool
from lambdaboost.reproduce.store import Outcome
from lambdaboost.reproduce.systems import (
    DESCENT,
    LINEAR,
    NEWTON,
    Grid,
    SweptSystem,
    baseline_trials,
    following_trials,
    swept_systems,
)
from lambdaboost.reproduce.trial import Setting, Trial

CUTOFFS = tuple(range(1, 11))
# Figure 7: how NDCG grows with the training data, of these systems.
SHARES = (0.1, 0.25, 0.5, 0.75)
GROWING = (NEWTON, DESCENT, LINEAR)

Advance = Callable[[], None]
Runs = dict[Trial, Outcome]


@dataclass(frozen=True, eq=False)
class Results:
    """All runs of all systems, and what was selected."""

    data: Data
    setting: Setting
    grid: Grid
    systems: tuple[SweptSystem, ...]
    runs: dict[tuple[str, str], Runs]
    shares: dict[tuple[str, str, float], Outcome]

    def selected(self, system: str, fold: Fold) -> tuple[Trial, Outcome]:
        """The run of a system that validates best on a fold, the first of equals."""
        return best_runs(self.runs[system, fold.name], 1)[0]

    def measures(self) -> list[Measure]:
        """NDCG, and CNDCG of each click setting, at 1 to 10."""
        sources = [clicks.name for clicks in self.data.clicks]
        return [NDCG(k) for k in CUTOFFS] + [CNDCG(k, source=name) for name in sources for k in CUTOFFS]

    @cached_property
    def per_fold(self) -> dict[tuple[str, str], Figures]:
        """Each system's figures for the test queries of each fold."""
        measures = self.measures()
        found = {}
        for fold in self.data.folds:
            q = self.data.joined(fold.test).queries
            for system in self.systems:
                scores = self.selected(system.name, fold)[1].test_scores
                values = {measure: measure.per_query(scores, q) for measure in measures}
                found[system.name, fold.name] = Figures(system.name, values)
        return found

    @cached_property
    def figures(self) -> dict[str, Figures]:
        """Each system's figures for all test queries, fold after fold."""
        return {
            system.name: Figures.concat(
                system.name, *(self.per_fold[system.name, fold.name] for fold in self.data.folds)
            )
            for system in self.systems
        }

    def shares_of(self, system: str, measure: Measure) -> NDArray[np.float64]:
        """A measure for every test query at each of `SHARES` and at all the training data, (n_shares, n_queries)."""
        rows = []
        for share in SHARES:
            parts = [
                measure.per_query(
                    self.shares[system, fold.name, share].test_scores, self.data.joined(fold.test).queries
                )
                for fold in self.data.folds
            ]
            rows.append(np.concatenate(parts))
        return np.array([*rows, self.figures[system].per_query(measure)])


def best_runs(runs: Runs, n: int) -> list[tuple[Trial, Outcome]]:
    """The n runs that validate best, the first of equals first."""
    return sorted(runs.items(), key=lambda run: -run[1].figure)[:n]


def n_runs(systems: Sequence[SweptSystem], grid: Grid, data: Data, engine: str) -> int:
    """How many runs a reproduction takes at most."""
    own = sum(
        len(baseline_trials(s, grid, engine, fold)) for s in systems if not s.follows for fold in data.folds
    )
    following = sum(grid.reused * len(s.objectives) for s in systems if s.follows) * len(data.folds)
    return own + following + len(GROWING) * len(SHARES) * len(data.folds)


def run_protocol(pool: Pool, grid: Grid, advance: Advance) -> Results:
    """Every run of the sweeps: the baselines first, then what follows the best of them, then smaller training sets."""
    data, setting = pool.data, pool.setting
    systems = swept_systems(grid, setting.engine, [clicks.name for clicks in data.clicks])
    runs: dict[tuple[str, str], Runs] = {}

    def sweep(trials: dict[tuple[str, str], list[Trial]]) -> None:
        # Runs on the same data side by side, so that a worker seldom has to prepare them anew.
        asked = [
            trial
            for fold in data.folds
            for (_, f), some in trials.items()
            if f == fold.name
            for trial in some
        ]
        done = pool.run(asked, advance)
        runs.update({at: {trial: done[trial] for trial in some} for at, some in trials.items()})

    own = [system for system in systems if system.follows is None]
    sweep(
        {
            (s.name, fold.name): baseline_trials(s, grid, setting.engine, fold)
            for s in own
            for fold in data.folds
        }
    )
    following = {}
    for system in systems:
        if system.follows is None:
            continue
        for fold in data.folds:
            best = [trial for trial, _ in best_runs(runs[system.follows, fold.name], grid.reused)]
            following[system.name, fold.name] = following_trials(system, best)
    sweep(following)
    runs = {(s.name, fold.name): runs[s.name, fold.name] for s in systems for fold in data.folds}
    return Results(data, setting, grid, systems, runs, _shares(pool, runs, advance))


def _shares(
    pool: Pool, runs: dict[tuple[str, str], Runs], advance: Advance
) -> dict[tuple[str, str, float], Outcome]:
    """Figure 7: the selected parameters again, on shares of the training queries."""
    trials = {}
    for fold in pool.data.folds:
        for share in SHARES:
            for system in GROWING:
                best = best_runs(runs[system, fold.name], 1)[0][0]
                trials[system, fold.name, share] = Trial(
                    fold, best.objective, best.leaves, best.rate, best.documents, share
                )
    done = pool.run(list(trials.values()), advance)
    return {at: done[trial] for at, trial in trials.items()}
