"""`Search`: asks Optuna for trials, has them trained, and reports the results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.tuning.optional import optuna
from lambdaboost.tuning.space import Space
from lambdaboost.tuning.store import Store
from lambdaboost.tuning.task import Job, Outcome, Task
from lambdaboost.tuning.trial import Trial, best_of, floor_of
from lambdaboost.tuning.workers import Here, Processes

LEAST = 5  # complete trials before any is pruned
SHARED = 6  # candidates that the best trees are given to
OBJECTIVE = "objective"


@dataclass(frozen=True)
class Budget:
    """What a search may take: trainings, and the time when it ends, in seconds since the epoch."""

    trainings: float
    until: float


@dataclass(eq=False)
class Search:
    """A search over the candidates of a task; `weight` is that of each measured query.

    Only this process asks and tells the sampler, so trainings never wait for each other, and no budget is exceeded.
    """

    task: Task
    space: Space
    store: Store | None
    budget: Budget
    workers: int
    weight: NDArray[np.float64]
    on_trial: Callable[[Search], None]
    trials: list[Trial] = field(default_factory=list)
    begin: float = field(default_factory=time.time)
    _shared: bool = False

    def run(self) -> list[Trial]:
        """All finished trials, those of an earlier call included."""
        with without_messages():
            self._resume()
        executor = Here(self.task) if self.workers == 1 else Processes(self.task, self.workers)
        running: dict[Future[Outcome], tuple[Any, int, Job]] = {}
        try:
            while self._affords(len(running)) or running:
                while len(running) < self.workers and self._affords(len(running)):
                    with without_messages():
                        self._share_trees(len(running))
                        asked = self._ask()
                    running[executor.submit(asked[2])] = asked
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda future: running[future][1]):
                    asked = running.pop(future)
                    with without_messages():
                        self._tell(asked, future.result())
                    self.on_trial(self)
        except BaseException:
            executor.kill()
            raise
        executor.close()
        return self.trials

    @property
    def trainings(self) -> int:
        """How many trainings the finished trials took."""
        return sum(trial.trainings for trial in self.trials)

    @property
    def best(self) -> Trial | None:
        """The best complete trial so far."""
        return best_of(self.trials, self.weight)

    def _affords(self, running: int) -> bool:
        each = len(self.task.folds)
        in_use = self.trainings + running * each
        return in_use + each <= self.budget.trainings and time.time() < self.budget.until

    def _resume(self) -> None:
        """Begin with the defaults of all candidates, or after what earlier calls finished."""
        self.study = optuna().create_study(directions=["maximize"] * len(self.task.measures))
        self.trials = [] if self.store is None else list(self.store.kept())
        for trial in self.trials:
            self.study.add_trial(self._as_frozen(trial))
        done = [(trial.candidate, dict(trial.knobs)) for trial in self.trials]
        order = sorted(range(len(self.task.candidates)), key=lambda at: self.task.candidates[at].turn)
        for at in order[: self._defaults]:
            candidate = self.task.candidates[at]
            if (at, self.space.defaults(candidate)) not in done:
                self.study.enqueue_trial({OBJECTIVE: candidate.name, **self.space.start(candidate)})
        self._next = 1 + max((trial.number for trial in self.trials), default=-1)

    def _share_trees(self, running: int) -> None:
        """Half way, try the trees of the best trial with the other candidates, the best of these first.

        Otherwise a candidate that the sampler left early would lose by its trees, and not by its objective.
        """
        if self._shared or self._used(running) < 0.5:
            return
        self._shared = True
        first = self._first_half()
        ranked = self._ranked(first)
        bests = {at: best_of([t for t in first if t.candidate == at], self.weight) for at in ranked}
        best = bests[ranked[0]]
        if best is None:
            return
        trees = {name: best.asked[name] for name in self.space.trees_of(self.task.candidates[ranked[0]])}
        for at in ranked[1 : 1 + SHARED]:
            candidate, trial = self.task.candidates[at], bests[at]
            own = self.space.start(candidate) if trial is None else dict(trial.asked)
            params = own | {name: value for name, value in trees.items() if name in own}
            if not any(t.candidate == at and t.asked == params for t in self.trials):
                self.study.enqueue_trial({OBJECTIVE: candidate.name, **params})

    def _first_half(self) -> list[Trial]:
        """The trials that began before half of the trainings were used, also where a later call goes on."""
        begun, found = 0, []
        for trial in sorted(self.trials, key=lambda trial: trial.number):
            if begun >= self._defaults * len(self.task.folds) + self._left / 2:
                break
            found.append(trial)
            begun += trial.trainings
        return found

    def _ranked(self, trials: list[Trial]) -> list[int]:
        """The candidates: those with a complete trial, the best first, then the others by their turns."""
        means = {
            at: mean
            for at in range(len(self.task.candidates))
            if (mean := self._highest(trials, at)) is not None
        }
        others = [at for at in range(len(self.task.candidates)) if at not in means]
        turns = sorted(others, key=lambda at: self.task.candidates[at].turn)
        return [*sorted(means, key=lambda at: -means[at]), *turns]

    def _highest(self, trials: list[Trial], candidate: int) -> float | None:
        best = best_of([trial for trial in trials if trial.candidate == candidate], self.weight)
        return None if best is None else float(best.means(self.weight)[0])

    @property
    def _defaults(self) -> int:
        """How many candidates are tried with their defaults: as many as half of the trainings are enough for."""
        enough = max(self.budget.trainings / len(self.task.folds) / 2, 3)
        return min(len(self.task.candidates), int(min(enough, 1000)))

    @property
    def _left(self) -> float:
        """The trainings that the defaults leave."""
        return max(self.budget.trainings - self._defaults * len(self.task.folds), 1)

    def _used(self, running: int) -> float:
        """The share of the budget that is used, of what the defaults leave of it."""
        each = len(self.task.folds)
        used = (self.trainings + (running - self._defaults) * each) / self._left
        span = self.budget.until - self.begin
        return max(used, (time.time() - self.begin) / span)

    def _ask(self) -> tuple[Any, int, Job]:
        """The next trial, its number and its job; the seed and the number determine what the sampler draws."""
        number, self._next = self._next, self._next + 1
        self.study.sampler = optuna().samplers.TPESampler(
            n_startup_trials=min(10, len(self.task.candidates)),
            seed=(self.task.seed * 1_000_003 + number) % 2**32,
            multivariate=True,
            group=True,
            constant_liar=True,
        )
        trial = self.study.ask()
        names = [candidate.name for candidate in self.task.candidates]
        index = names.index(trial.suggest_categorical(OBJECTIVE, names))
        candidate = self.task.candidates[index]
        values = self.space.suggested(trial, candidate)
        job = Job(index, values, until=self.budget.until)
        if len(self.task.measures) == 1:
            best = self.best
            rival = None if best is None else best.outcome.values[0]
            floor = floor_of(self.trials, values, self.task.rounds, LEAST)
            is_default = values == self.space.defaults(candidate)
            if not is_default:  # each candidate has one full trial
                job = replace(job, rival=rival, floor=floor)
        return trial, number, job

    def _tell(self, asked: tuple[Any, int, Job], outcome: Outcome) -> None:
        trial, number, job = asked
        state = optuna().trial.TrialState
        if outcome.state == "late":
            self.study.tell(trial, state=state.FAIL)
            return
        finished = Trial(number, job.candidate, dict(job.knobs), _numbers(trial.params), outcome)
        if self.store is not None:
            self.store.keep(finished)
        self.trials.append(finished)
        if finished.is_complete:
            self.study.tell(trial, self._values(finished))
        else:
            trial.report(finished.reached, len(outcome.curves[0]))
            self.study.tell(trial, state=state.PRUNED)

    def _values(self, trial: Trial) -> list[float]:
        return [float(mean) for mean in trial.means(self.weight)]

    def _as_frozen(self, trial: Trial) -> Any:
        """A trial of an earlier call, as Optuna keeps it."""
        package = optuna()
        candidate = self.task.candidates[trial.candidate]
        knobs = self.space.named(candidate)
        names = [each.name for each in self.task.candidates]
        choice = package.distributions.CategoricalDistribution(names)
        ranges = {name: knob.distribution(package.distributions) for name, knob in knobs.items()}
        states = package.trial.TrialState
        return package.trial.create_trial(
            params={OBJECTIVE: candidate.name, **trial.asked},
            distributions={OBJECTIVE: choice, **ranges},
            values=self._values(trial) if trial.is_complete else None,
            intermediate_values=None if trial.is_complete else {len(trial.outcome.curves[0]): trial.reached},
            state=states.COMPLETE if trial.is_complete else states.PRUNED,
        )


def _numbers(params: Mapping[str, Any]) -> dict[str, float]:
    """What an Optuna trial suggested, without the objective."""
    return {name: value for name, value in params.items() if name != OBJECTIVE}


@contextmanager
def without_messages() -> Iterator[None]:
    """Without Optuna's messages: that an option is experimental, or which sampler drew a value."""
    logging = optuna().logging
    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna().exceptions.ExperimentalWarning)
            yield
    finally:
        logging.set_verbosity(before)
