"""`Search`: asks Optuna for trials, has them trained, and reports the results."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lambdaboost._installed import package
from lambdaboost.tuning.portfolio import Planned, planned
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.study import Study, quiet
from lambdaboost.tuning.training import Submit, submitting
from lambdaboost.tuning.trial import Trial, by_mean

OBJECTIVE = "objective"

Asked = dict[str, Any]  # what the sampler sets, by its names in the search, the candidate among it


@dataclass(eq=False)
class Search:
    """A search for a request, with a file for its trials if there is one.

    Only this process asks and tells the sampler, so trainings never wait for each other, and no budget is exceeded.
    """

    request: Request
    file: Study | None
    on_trial: Callable[[Search], None]
    trials: list[Trial] = field(default_factory=list)
    begin: float = field(default_factory=time.time)
    seconds_each: float | None = (
        None  # of a training: of the first fold, or with several workers of the first setting
    )
    _begun: list[Asked] = field(default_factory=list)

    def run(self) -> None:
        """Train until the budget is used up; `trials` are all that are finished, those of an earlier call included."""
        workers = self.request.n_workers
        with quiet(), submitting(self.request, workers, self._time) as submit:
            self._resume()
            running: dict[Future[Trial], Any] = {}
            while self._affords(len(running)) or running:
                while len(running) < workers and self._affords(len(running)):
                    future, shown = self._ask(submit)
                    running[future] = shown
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda future: future.result().number):
                    self._tell(running.pop(future), future.result())
                    self.on_trial(self)

    @property
    def best(self) -> Trial | None:
        """The best complete trial so far."""
        return next(iter(by_mean(self.trials)), None)

    def _time(self, seconds: float) -> None:
        if self.seconds_each is None:
            self.seconds_each = seconds
            self.on_trial(self)

    @property
    def _until(self) -> float:
        minutes = self.request.minutes
        return float("inf") if minutes is None else self.begin + 60 * minutes

    def _affords(self, running: int) -> bool:
        budget = self.request.settings
        enough = budget is None or len(self.trials) + running < budget
        return enough and time.time() < self._until

    def _resume(self) -> None:
        """Take up what earlier calls finished."""
        directions = ["maximize"] * len(self.request.measures)
        self.study = package("optuna").create_study(directions=directions)
        if self.file is not None:
            self._file, kept = self.file.opened()
            for trial, shown in kept:
                self.study.add_trial(shown)
                self.trials.append(trial)
                self._begun.append(shown.params)
        self._next = 1 + max((trial.number for trial in self.trials), default=-1)

    def _ask(self, submit: Submit) -> tuple[Future[Trial], Any]:
        """Begin the next trial; the seed and its number determine what the sampler draws."""
        request, number = self.request, self._next
        self._next += 1
        first = next((one for one in self._planned if self._name(one) not in self._begun), None)
        if first is not None:
            self.study.enqueue_trial(self._name(first))
        self.study.sampler = package("optuna").samplers.TPESampler(
            n_startup_trials=min(10, len(request.candidates)),
            seed=(request.seed * 1_000_003 + number) % 2**32,
            multivariate=True,
            group=True,
            constant_liar=True,
        )
        shown = self.study.ask()
        names = [candidate.name for candidate in request.candidates]
        at = names.index(shown.suggest_categorical(OBJECTIVE, names))
        candidate = request.candidates[at]
        asked = {name: knob.asked(shown, name) for name, knob in request.space.knobs(candidate).items()}
        rival = None if self._goes_to_its_end(at, first) or self.best is None else self.best.values[0]
        self._begun.append({OBJECTIVE: candidate.name, **asked})
        knobs = request.space.values(candidate, asked) if first is None else first.knobs
        trial = Trial(number, at, asked, knobs, own=first is not None and first.own)
        return submit(trial, rival, self._until), shown

    def _name(self, setting: Planned) -> Asked:
        return {OBJECTIVE: self.request.candidates[setting.candidate].name, **setting.asked}

    def _goes_to_its_end(self, at: int, first: Planned | None) -> bool:
        """Whether a setting is trained on all folds: the default, any for a front, each named objective once."""
        request = self.request
        is_first = self.request.candidates[at].name not in [begun[OBJECTIVE] for begun in self._begun]
        is_base = first is not None and first is self._planned[0]
        return is_base or len(request.measures) > 1 or (request.named is not None and is_first)

    @cached_property
    def _planned(self) -> tuple[Planned, ...]:
        r = self.request
        return planned(r.candidates, r.engines[0], r.space, r.named is not None)

    def _tell(self, shown: Any, trial: Trial) -> None:
        states = package("optuna").trial.TrialState
        if trial.state == "late":
            self.study.tell(shown, state=states.FAIL)
            return
        self._time(trial.seconds / trial.folds)
        self.trials.append(trial)
        if not trial.is_complete:
            shown.report(trial.means[0], trial.folds)
        values = list(trial.means) if trial.is_complete else None
        done = self.study.tell(shown, values, state=states.PRUNED if values is None else states.COMPLETE)
        if self.file is not None:
            self.file.keep(self._file, trial, done)
