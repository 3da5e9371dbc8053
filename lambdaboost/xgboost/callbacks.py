"""Callbacks of XGBoost: the steps of a job, and early stopping by the first metric."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from xgboost.callback import EarlyStopping, EvaluationMonitor, TrainingCallback

from lambdaboost._xgboost import boosters_in
from lambdaboost.engines.job import Figure, Job

MAXIMISED = ("ndcg", "map", "pre", "auc")


class Callbacks(TrainingCallback):
    """Carries out the steps of a job around the user's callbacks."""

    def __init__(self, job: Job, user: Sequence[Any]) -> None:
        super().__init__()
        for callback in user:
            if not isinstance(callback, TrainingCallback):
                raise TypeError(f"callbacks has {callback!r}, expected xgboost.callback.TrainingCallback")
        self.job, self.user = job, list(dict.fromkeys(user))
        self.log: Any = None
        self.lengths: dict[tuple[str, str], int] = {}

    def before_training(self, model: Any) -> Any:
        """Call the user's."""
        for callback in self.user:
            model = callback.before_training(model)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Begin the steps at the first round."""
        if self.log is None:
            self.log = evals_log
            self.job.begin(boosters_in(model, self.job.data))
        return any(one.before_iteration(model, epoch, evals_log) for one in self.user)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Carry out the steps; whether a callback or a step stops the training."""
        new = {key for key, length in _lengths(evals_log).items() if length > self.lengths.get(key, 0)}
        self.job.after_round([figure for figure in figures_of(evals_log) if figure[:2] in new])
        self.lengths = _lengths(evals_log)
        asked = any(one.after_iteration(model, epoch, evals_log) for one in self.user)
        return asked or self.job.stops

    def after_training(self, model: Any) -> Any:
        """Call the user's."""
        for callback in self.user:
            model = callback.after_training(model)
        return model


class FirstMetric(EarlyStopping):
    """An `xgboost.callback.EarlyStopping` that uses the first metric unless it names one."""

    metric_name: str | None

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to stop."""
        if self.metric_name is None and evals_log:
            of_data = evals_log.get(self.data or list(evals_log)[-1], {})
            self.metric_name = next(iter(of_data), None)
        return bool(super().after_iteration(model, epoch, evals_log))


def engine_callbacks(
    callbacks: Sequence[Any] | None,
    verbose_eval: bool | int | None,
    early_stopping_rounds: int | None,
    maximize: bool | None = None,
) -> list[Any]:
    """The callbacks, and those that `xgboost.train` and `xgboost.cv` would add for these arguments, in their order.

    Stock early stopping that names no metric is replaced by a copy that uses the first one.
    """
    complete = list(callbacks or [])
    for at, callback in enumerate(complete):
        if type(callback) is EarlyStopping and callback.metric_name is None:
            complete[at] = copy.copy(callback)
            complete[at].__class__ = FirstMetric
    if verbose_eval:
        complete.append(EvaluationMonitor(period=1 if verbose_eval is True else verbose_eval, show_stdv=True))
    if early_stopping_rounds:
        # Last, because callbacks after it do not see the last round.
        complete.append(FirstMetric(rounds=early_stopping_rounds, maximize=maximize))
    return complete


def figures_of(evals_log: Any) -> list[Figure]:
    """What was evaluated in the last round; in a cross-validation, which records mean and deviation, the mean."""
    return [
        Figure(
            data, name, float(values[-1][0] if type(values[-1]) is tuple else values[-1]), is_maximised(name)
        )
        for data, of_data in evals_log.items()
        for name, values in of_data.items()
    ]


def _lengths(evals_log: Any) -> dict[tuple[str, str], int]:
    return {(data, name): len(log) for data, of_data in evals_log.items() for name, log in of_data.items()}


def is_maximised(name: str) -> bool:
    """Whether XGBoost's early stopping takes a higher value of the metric as the better one."""
    return name != "mape" and name.startswith(MAXIMISED)
