"""Callbacks of LightGBM: the steps of a job, `progress`, and early stopping by the first metric."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lightgbm.callback import EarlyStopException

from lambdaboost._lightgbm import BOOSTING, OBJECTIVE_VARIABLE, eval_result, note_objective
from lambdaboost.engines.job import Figure, History, Job
from lambdaboost.lightgbm.traps import STOPPING

if TYPE_CHECKING:
    from rich.console import Console

FIRST, EARLY, LAST = float("-inf"), -1e300, float("inf")


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
    """The callbacks that carry out the steps of a job, and the user's, as if uninterrupted: `all`."""

    def __init__(self, job: Job, user: Sequence[Any]) -> None:
        self.job, self.user = job, user
        self.env: Any = None

    @property
    def all(self) -> list[Any]:
        """Made anew, for an object that held them would hold itself, and so the data."""
        return [
            Callback(self._begin, True),
            Callback(self._after_round, False, EARLY),
            *(self._resumed(callback, i - len(self.user)) for i, callback in enumerate(self.user)),
            Callback(lambda _: self.job.end_round(), False, LAST),
        ]

    def replay(self, history: History) -> None:
        """Tell LightGBM's own callbacks, such as early stopping and records, of the rounds of a checkpoint."""
        own = [
            cb for cb in self.user if type(cb).__module__ == "lightgbm.callback" and not cb.before_iteration
        ]
        for round_, figures in enumerate(history):
            past = self._env(self.env, round_, [eval_result(figure) for figure in figures])
            for callback in sorted(own, key=lambda cb: cb.order):
                callback(past)

    def _begin(self, env: Any) -> None:
        if env.iteration != env.begin_iteration:
            return
        self.env = env
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
        job.begin(boosters, self.replay)

    def _after_round(self, env: Any) -> None:
        self.job.after_round(figures_of(env))
        if self.job.stops:
            raise EarlyStopException(env.iteration, env.evaluation_result_list)

    def _env(self, env: Any, round_: int, results: Any) -> Any:
        """The environment of callbacks in a round of a training that was not interrupted."""
        end = self.job.done + self.job.rounds
        return replace(
            env, iteration=round_, begin_iteration=0, end_iteration=end, evaluation_result_list=results
        )

    def _resumed(self, callback: Any, order: int) -> Any:
        """The callback, called with the rounds of an uninterrupted training, where LightGBM counts trees."""
        begin = self.job.done
        if not begin:
            return callback

        def run(env: Any) -> None:
            round_ = begin + env.iteration - env.begin_iteration
            callback(self._env(env, round_, env.evaluation_result_list))

        before = getattr(callback, "before_iteration", False)
        return Callback(run, before, getattr(callback, "order", order))


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


def progress(console: Console | None = None) -> Any:
    """Show a training as it goes: rounds, rounds per second, time left, measures, and a schedule's weight.

    Redrawn in place on a terminal or in a notebook; silent elsewhere, such as in a log file.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; by default standard error.

    Returns
    -------
    callable
        For ``callbacks=[…]`` of `lightgbm.train`, `lightgbm.cv`, `LGBMRanker.fit` and their counterparts in
        lambdaboost. Leave out `lightgbm.log_evaluation`, which prints the same values line by line.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaboost.lightgbm import Dataset, train
    >>> data = Dataset(np.arange(8.0)[:, None], [0, 0, 1, 1, 0, 0, 1, 1], group=[4, 4])
    >>> train({"min_data_in_leaf": 1, "verbose": -1}, data, rounds=2, callbacks=[progress()]).num_trees()
    2

    """
    view: Any = None

    def show(env: Any) -> None:
        from lambdaboost.engines.progress import LiveView, objective_in_training

        nonlocal view
        if view is None or env.iteration == env.begin_iteration:
            view = LiveView(console)
            view.start(env.end_iteration - env.begin_iteration, objective_in_training(OBJECTIVE_VARIABLE))
        view.round_done(env.iteration, figures_of(env))
        if env.iteration + 1 == env.end_iteration:
            view.draw()

    return Callback(show, False, 25)  # before early stopping ends the training
