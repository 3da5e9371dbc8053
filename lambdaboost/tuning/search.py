"""`Search`: asks Optuna for trials, has them trained, and reports the results."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from lambdaboost._installed import package
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.study import Study, quiet
from lambdaboost.tuning.training import Submit, submitting
from lambdaboost.tuning.trial import Trial, best_of_each, by_mean

SHARED = 6  # candidates that the best trees are given to
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
    _half: int | None = None  # the number of the first trial of the second half

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
        if self.request.settings is not None:
            self._half = self._defaults + max(self.request.settings - self._defaults, 0) // 2

    def _ask(self, submit: Submit) -> tuple[Future[Trial], Any]:
        """Begin the next trial; the seed and its number determine what the sampler draws."""
        request, number = self.request, self._next
        self._next += 1
        if self._half is None and time.time() > (self.begin + self._until) / 2:
            self._half = number
        if (planned := self._planned(number)) is not None:
            self.study.enqueue_trial(planned)
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
        rival = None
        if asked != request.space.start(candidate) and len(request.measures) == 1 and self.best is not None:
            rival = self.best.values[0]  # each candidate has one full trial
        self._begun.append({OBJECTIVE: candidate.name, **asked})
        trial = Trial(number, at, asked, request.space.values(candidate, asked))
        return submit(trial, rival, self._until), shown

    def _planned(self, number: int) -> Asked | None:
        """What is tried before the sampler chooses: all first values, and half way the best trees for all others.

        Otherwise a candidate that the sampler left early would lose by its trees, and not by its objective.
        """
        order = sorted(self.request.candidates, key=lambda candidate: candidate.turn)
        wanted = [{OBJECTIVE: c.name, **self.request.space.start(c)} for c in order[: self._defaults]]
        if self._half is not None and number >= self._half:
            wanted += self._with_best_trees([trial for trial in self.trials if trial.number < self._half])
        return next((asked for asked in wanted if asked not in self._begun), None)

    @property
    def _defaults(self) -> int:
        """How many candidates are tried with their first values: as many as half of the budget is enough for."""
        n, budget = len(self.request.candidates), self.request.settings
        return n if budget is None else min(n, max(budget // 2, 3))

    def _with_best_trees(self, trials: list[Trial]) -> list[Asked]:
        """The trees of the best trial with the objectives of the other candidates, the best of these first."""
        candidates, space = self.request.candidates, self.request.space
        bests = best_of_each(trials)
        if not bests:
            return []
        turns = sorted(range(len(candidates)), key=lambda at: candidates[at].turn)
        first, *others = [*bests, *(at for at in turns if at not in bests)]
        trees = space.trees(candidates[first])
        best = {name: value for name, value in bests[first].asked.items() if name in trees}
        found = []
        for at in others[:SHARED]:
            own = bests[at].asked if at in bests else space.start(candidates[at])
            shared = {name: value for name, value in best.items() if name in own}
            found.append({OBJECTIVE: candidates[at].name, **own, **shared})
        return found

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
