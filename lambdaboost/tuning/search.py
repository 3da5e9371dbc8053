"""`Search`: asks Optuna for trials, has them trained, and tells it what became of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Budget:
    """What a search may take: trainings, and the time when it ends, in seconds since the epoch."""

    trainings: float
    until: float


@dataclass(eq=False)
class Search:
    """A search over the candidates of a task; `weight` is that of each measured query."""

    task: Task
    space: Space
    store: Store
    budget: Budget
    workers: int
    weight: NDArray[np.float64]
    on_trial: Callable[[Search], None]
    trials: list[Trial] = field(default_factory=list)

    def run(self) -> list[Trial]:
        """All finished trials, those of an earlier call included."""
        with quiet():
            self.study = self._study()
            self._go_on()
        executor = Here(self.task) if self.workers == 1 else Processes(self.task, self.workers)
        running: dict[Future[Outcome], tuple[Any, Job]] = {}
        try:
            while self._affords(len(running)) or running:
                while len(running) < self.workers and self._affords(len(running)):
                    with quiet():
                        asked = self._asked()
                    running[executor.submit(asked[1])] = asked
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda future: running[future][0].number):
                    trial, job = running.pop(future)
                    with quiet():
                        self._told(trial, job, future.result())
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

    def _study(self) -> Any:
        return optuna().create_study(
            storage=self.store.storage(),
            study_name="tune",
            directions=["maximize"] * len(self.task.measures),
            load_if_exists=True,
        )

    def _go_on(self) -> None:
        """Take over what earlier calls finished, repeat what they did not, and begin with the defaults."""
        state = optuna().trial.TrialState
        found = self.study.get_trials(deepcopy=False)
        if not found:
            for candidate in sorted(self.task.candidates, key=lambda candidate: candidate.worth):
                self.study.enqueue_trial({"objective": candidate.name, **self.space.start(candidate)})
        for trial in found:
            if trial.state == state.RUNNING:
                self.study.tell(trial.number, state=state.FAIL)
                self.study.enqueue_trial(trial.params)
            elif trial.state in (state.COMPLETE, state.PRUNED):
                outcome = self.store.kept(trial.number)
                if outcome is not None:
                    index, values = trial.user_attrs["candidate"], trial.user_attrs["values"]
                    self.trials.append(Trial(trial.number, index, values, outcome))

    def _asked(self) -> tuple[Any, Job]:
        """The next trial; its place in the search and the seed alone determine what the sampler draws."""
        number = len(self.study.get_trials(deepcopy=False))
        self.study.sampler = optuna().samplers.TPESampler(
            n_startup_trials=min(10, len(self.task.candidates)),
            seed=(self.task.seed * 1_000_003 + number) % 2**32,
            multivariate=True,
            group=True,
            constant_liar=True,
        )
        trial = self.study.ask()
        names = [candidate.name for candidate in self.task.candidates]
        index = names.index(trial.suggest_categorical("objective", names))
        values = self.space.suggested(trial, self.task.candidates[index])
        trial.set_user_attr("candidate", index)
        trial.set_user_attr("values", values)
        is_default = values == self.space.defaults(self.task.candidates[index])
        alone = len(self.task.measures) == 1
        best = self.best
        floor = None if is_default or not alone else floor_of(self.trials, values, self.task.rounds, LEAST)
        rival = best.outcome.values[0] if alone and best is not None else None
        return trial, Job(index, values, floor, rival, self.budget.until)

    def _told(self, trial: Any, job: Job, outcome: Outcome) -> None:
        state = optuna().trial.TrialState
        if outcome.state == "late":
            self.study.tell(trial, state=state.FAIL)
            self.study.enqueue_trial(trial.params)
            return
        self.store.keep(trial.number, outcome)
        finished = Trial(trial.number, job.candidate, dict(job.values), outcome)
        self.trials.append(finished)
        means = finished.means(self.weight)
        if outcome.state == "pruned":
            trial.report(float(np.nanmax(outcome.curves[0])), len(outcome.curves[0]))
            self.study.tell(trial, state=state.PRUNED)
        else:
            self.study.tell(trial, [float(mean) for mean in means])


@contextmanager
def quiet() -> Iterator[None]:
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
