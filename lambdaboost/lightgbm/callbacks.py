"""Callbacks of LightGBM: the steps of a job, and early stopping by the first metric."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lightgbm.callback import EarlyStopException

from lambdaboost._lightgbm import BOOSTING, note_objective
from lambdaboost.engines.job import Figure, Job
from lambdaboost.lightgbm.traps import STOPPING

FIRST, EARLY = float("-inf"), -1e300


@dataclass(eq=False)
class Callback:
    """A callback that is called before all others of its kind, unless `order` says otherwise."""

    run: Callable[[Any], None]
    before_iteration: bool
    order: float = FIRST

    def __call__(self, env: Any) -> None:
        """Call it."""
        self.run(env)


class Callbacks:
    """The callbacks that carry out the steps of a job, and the user's: `all`."""

    def __init__(self, job: Job, user: Sequence[Any]) -> None:
        self.job, self.user = job, user

    @property
    def all(self) -> list[Any]:
        """Made anew, for an object that held them would hold itself, and so the data."""
        return [Callback(self._begin, True), Callback(self._after_round, False, EARLY), *self.user]

    def _begin(self, env: Any) -> None:
        if env.iteration != env.begin_iteration:
            return
        job, folds = self.job, getattr(env.model, "boosters", None)
        boosters = [(one, one.train_set) for one in (folds if isinstance(folds, list) else [env.model])]
        evaluated = [
            (name, data)
            for booster, _ in boosters
            for name, data in zip(booster.name_valid_sets, booster.valid_sets, strict=True)
        ]
        if any(data is job.data for _, data in job.evaluated):
            evaluated.append(("the training data", job.data))
        job.check_data([data for _, data in boosters], evaluated)
        for booster, _ in boosters if job.of_objective else ():
            _prepare(booster, env.params)
        job.begin(boosters)

    def _after_round(self, env: Any) -> None:
        self.job.after_round(figures_of(env))
        if self.job.stops:
            raise EarlyStopException(env.iteration, env.evaluation_result_list)


def figures_of(env: Any) -> list[Figure]:
    """What was evaluated in the round of a callback."""
    return [Figure(*result[:4]) for result in env.evaluation_result_list or ()]


def _prepare(booster: Any, params: dict[str, Any]) -> None:
    """Use the engine's own random sequence, the same in every run.

    The first `Booster.update` with an objective that is not LightGBM's own resets the booster's parameters. The booster
    has no objective already, so the reset would only change the random features of `feature_fraction`, and fail if no
    feature is usable. It is skipped.

    DART does not initialise the variable that records whether trees were dropped in a round; its value is undefined in
    the first round. Computing scores and then resetting the parameters sets it to "none", without a random draw.
    """
    if any(params.get(name) == "dart" for name in BOOSTING):
        booster.eval_train(lambda *_: [])
        booster.reset_parameter({"objective": "none"})
    note_objective(booster)


def by_first_metric(
    params: dict[str, Any], callbacks: Sequence[Any] | None
) -> tuple[dict[str, Any], list[Any]]:
    """Early stopping by the first metric, unless `params` have ``first_metric_only=False``.

    LightGBM stops as soon as any metric of any validation set stalls.
    """
    callbacks = list(callbacks or [])
    if str(params.get("first_metric_only", True)).lower() in ("false", "0", "-"):
        return params, callbacks
    if any(name in params for name in STOPPING):
        params = {**params, "first_metric_only": True}
    for at, callback in enumerate(callbacks):
        if hasattr(callback, "stopping_rounds") and hasattr(callback, "first_metric_only"):
            callbacks[at] = copy.copy(callback)  # the caller may use it elsewhere
            callbacks[at].first_metric_only = True
    return params, callbacks
