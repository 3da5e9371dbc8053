"""Callbacks of XGBoost: one reports the boosters in training, one stops early by the first metric, not the last."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from xgboost.callback import EarlyStopping, EvaluationMonitor, TrainingCallback

from lambdaboost.engines.rounds import ObjectiveInRounds
from lambdaboost.xgboost._private import trained


class ReportBoosters(TrainingCallback):
    """Reports which booster trains on which data. XGBoost itself counts rounds, also those without a split."""

    def __init__(self, objective: ObjectiveInRounds, data: Any) -> None:
        super().__init__()
        self.objective, self.data = objective, data

    def before_training(self, model: Any) -> Any:
        for booster, data in trained(model, self.data):
            self.objective.begin(booster, data)
        return model


class FirstMetric(EarlyStopping):
    """An `xgboost.callback.EarlyStopping` that uses the first metric unless it names one."""

    metric_name: str | None

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
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
    complete = [
        _by_first(callback) if type(callback) is EarlyStopping and callback.metric_name is None else callback
        for callback in callbacks or ()
    ]
    if verbose_eval:
        complete.append(EvaluationMonitor(period=1 if verbose_eval is True else verbose_eval, show_stdv=True))
    if early_stopping_rounds:
        # Last, because callbacks after it do not see the last round.
        complete.append(FirstMetric(rounds=early_stopping_rounds, maximize=maximize))
    return complete


def _by_first(stopping: EarlyStopping) -> EarlyStopping:
    copied = copy.copy(stopping)
    copied.__class__ = FirstMetric
    return copied
