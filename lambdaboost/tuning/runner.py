"""The trainings of a search, in one process: data are binned once, settings change."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._threads import using_one
from lambdaboost.engines.engine import Training, engine_named, trainer_named
from lambdaboost.evaluation.comparison.weighted_t import one_sided_p
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.space import params_of
from lambdaboost.tuning.task import Fold, Job, Outcome, Task

# One thread for each training: the processors go to different trainings.
ALWAYS: Mapping[str, Mapping[str, Any]] = {
    "lightgbm": {"num_threads": 1, "feature_pre_filter": False, "verbosity": -1},
    "xgboost": {"nthread": 1, "tree_method": "hist"},
}
THREADS = {"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"}
WARM_UP, EVERY = 50, 10  # rounds before a training may be pruned, and between two looks
CLEARLY = 0.05  # the one-sided p-value at which a trial is left after some of its folds


class Pruned(Exception):
    """Raised to stop a training that is behind."""


class Late(Exception):
    """Raised when the search runs out of time."""


@dataclass(eq=False)
class Watch:
    """Records the first measure after each round, and ends a training that is not worth more."""

    job: Job
    prunes: bool
    curve: list[float] = field(default_factory=list)
    best: float = -np.inf

    def __call__(self, value: float | None) -> None:
        """Called by the engine after every round."""
        figure = float("nan") if value is None else value
        self.curve.append(figure)
        self.best = max(self.best, figure)
        done = len(self.curve)
        if time.time() > self.job.until:
            raise Late
        floor = self.job.floor
        if self.prunes and floor is not None and done >= WARM_UP and done % EVERY == 0:
            at = min(done, floor.size) - 1
            if at >= 0 and self.best < floor[at]:
                raise Pruned


@dataclass(eq=False)
class Runner:
    """Runs the jobs of a task in this process."""

    task: Task
    _data: dict[tuple[str, int], tuple[Any, Any]] = field(default_factory=dict)

    def run(self, job: Job) -> Outcome:
        """Train and measure one job, fold by fold."""
        start = time.perf_counter()
        task, candidate = self.task, self.task.candidates[job.candidate]
        values = np.full((len(task.measures), task.n_queries), np.nan)
        curves: list[tuple[float, ...]] = []
        rounds: list[int] = []
        state, model = "complete", b""
        with using_one(), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for number, fold in enumerate(task.folds):
                watch = Watch(job, prunes=number == 0)
                try:
                    booster = self._trained(candidate, job, number, watch)
                except (Pruned, Late) as end:
                    state = "pruned" if isinstance(end, Pruned) else "late"
                    curves.append(tuple(watch.curve))
                    break
                curves.append(tuple(watch.curve))
                engine = engine_named(candidate.engine)
                rounds.append(engine.n_rounds(booster))
                values[:, fold.queries] = self._measured(engine.scores(booster, fold.valid.features), fold)
                if number + 1 < len(task.folds) and clearly_worse(values[0], job.rival, task.weight):
                    state = "pruned"
                    break
            else:
                model = engine.write(booster, "")
        said = tuple(dict.fromkeys(str(w.message) for w in heard if issubclass(w.category, UserWarning)))
        seconds = time.perf_counter() - start
        return Outcome(state, values, tuple(curves), tuple(rounds), seconds, model, said)

    def _trained(self, candidate: Candidate, job: Job, number: int, watch: Watch) -> Any:
        task = self.task
        training = Training(
            candidate.objective(job.knobs),
            candidate.leaves,
            task.rounds,
            full_params(candidate, job.knobs, task.params, task.seed),
            task.measures[0],
            task.patience,
        )
        train, valid = self._engine_data(candidate.engine, number)
        return trainer_named(candidate.engine).train(training, train, valid, watch)

    def _engine_data(self, engine: str, number: int) -> tuple[Any, Any]:
        """A fold as the engine's data sets, made once: LightGBM keeps its bins, XGBoost its quantiles."""
        if (engine, number) not in self._data:
            fold, trainer = self.task.folds[number], trainer_named(engine)
            train = trainer.data(fold.train)
            self._data[engine, number] = train, trainer.data(fold.valid, reference=train)
        return self._data[engine, number]

    def _measured(self, scores: NDArray[np.floating], fold: Fold) -> NDArray[np.float64]:
        q = fold.valid.queries
        return np.array([measure.per_query(scores, q) for measure in self.task.measures])


def full_params(
    candidate: Candidate, values: Mapping[str, float], fixed: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """All parameters that a training hands to its engine."""
    always = dict(ALWAYS[candidate.engine])
    if THREADS & set(fixed):
        always = {name: value for name, value in always.items() if name not in THREADS}
    return {"seed": seed, **always, **params_of(candidate, values), **fixed}


def clearly_worse(
    values: NDArray[np.float64], rival: NDArray[np.float64] | None, weight: NDArray[np.float64]
) -> bool:
    """Whether a trial is significantly worse than its rival on the queries that it has values of."""
    if rival is None:
        return False
    difference = values - rival
    known = ~np.isnan(difference) & (weight > 0)
    return bool(known.any() and one_sided_p(-difference[known], weight[known]) < CLEARLY)
