"""The trainings of `Kept`: the best setting of the first measure, with rising weights of a goal of the second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from lambdaboost._installed import package
from lambdaboost.evaluation import Measure
from lambdaboost.tuning.keep import WEIGHTS, Kept
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.second_goal import weighted
from lambdaboost.tuning.study import Study, quiet
from lambdaboost.tuning.training import Submit, submitting
from lambdaboost.tuning.trial import Trial


def request_of(first: Request, chosen: Trial, measures: tuple[Measure, ...]) -> Request:
    """The trainings of a setting with every weight, among them the first goal alone once more.

    They have folds, an order of rows and a seed of their own: on those of the search the setting was chosen for its
    high values, and any weight would seem to lose more than it does.
    """
    candidate = first.candidates[chosen.candidate]
    rule = candidate.objective_with(chosen.knobs)
    named = tuple(
        replace(
            candidate, objective=weighted(rule, measures, w), knobs=() if w else candidate.knobs, label=""
        )
        for w in WEIGHTS
    )
    return replace(
        first,
        measures=measures,
        named=named,
        settings=len(named),
        minutes=None,
        nested=0,
        seed=first.seed ^ 1,
    )


def trained(request: Request, knobs: Mapping[str, float], file: Study | None) -> list[Trial]:
    """A trial for every weight, in their order; those that the file keeps are not trained again."""
    done: dict[int, Trial] = {}
    journal: Any = None
    if file is not None:
        journal, kept = file.opened()
        done = {trial.number: trial for trial, _ in kept}
    missing = [Trial(at, at, {}, knobs) for at in range(len(request.candidates)) if at not in done]
    with quiet(), submitting(request, request.n_workers, lambda _: None) as submit:
        for future in _shown(_submitted(submit, missing, request.n_workers), len(missing)):
            trial = future.result()
            done[trial.number] = trial
            if file is not None:
                file.keep(journal, trial, package("optuna").trial.create_trial(values=list(trial.means)))
    return [done[number] for number in sorted(done)]


def kept_of(request: Request, keep: float, trials: Sequence[Trial]) -> Kept:
    """What the trials prove."""
    first, second = request.measures
    return Kept((first, second), keep, WEIGHTS, np.array([trial.values for trial in trials]), request.weight)


def _submitted(submit: Submit, trials: list[Trial], workers: int) -> Iterable[Future[Trial]]:
    """The trials as they are asked for in this process, or all at once in several."""
    futures = (submit(trial, None, float("inf")) for trial in trials)
    return futures if workers == 1 else list(futures)


def _shown(futures: Iterable[Future[Trial]], n: int) -> Iterator[Future[Trial]]:
    """With a bar, where standard error is a terminal."""
    console = Console(stderr=True, highlight=False)
    yield from track(futures, "trade-offs", n, console=console, disable=not console.is_terminal)
