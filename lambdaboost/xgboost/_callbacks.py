"""What XGBoost calls back: the round, and early stopping by the first measure, where XGBoost goes by the last."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from xgboost.callback import EarlyStopping, EvaluationMonitor, TrainingCallback

from lambdaboost.engines.rounds import ToldRounds
from lambdaboost.xgboost._private import trained


class TellRounds(TrainingCallback):
    """Says which booster trains on which data. XGBoost counts rounds itself, those without a split included."""

    def __init__(self, told: ToldRounds, data: Any) -> None:
        super().__init__()
        self.told, self.data = told, data

    def before_training(self, model: Any) -> Any:
        for booster, data in trained(model, self.data):
            self.told.begin(booster, data)
        return model


class FirstMetric(EarlyStopping):
    """`xgboost.callback.EarlyStopping` that goes by the first metric unless it names one."""

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

    A copy takes the place of each stock early stopping that names no metric.
    """
    made = [
        _by_first(callback) if type(callback) is EarlyStopping and callback.metric_name is None else callback
        for callback in callbacks or ()
    ]
    if verbose_eval:
        made.append(EvaluationMonitor(period=1 if verbose_eval is True else verbose_eval, show_stdv=True))
    if early_stopping_rounds:
        # Last, because callbacks after it do not see the round that stops.
        made.append(FirstMetric(rounds=early_stopping_rounds, maximize=maximize))
    return made


def _by_first(stopping: EarlyStopping) -> EarlyStopping:
    copied = copy.copy(stopping)
    copied.__class__ = FirstMetric
    return copied
