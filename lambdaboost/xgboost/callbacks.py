"""Callbacks of XGBoost: the steps of a job, `Progress`, and early stopping by the first metric."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xgboost.callback import EarlyStopping, EvaluationMonitor, LearningRateScheduler, TrainingCallback

from lambdaboost._xgboost import OBJECTIVE_VARIABLE, ROUNDS_VARIABLE, boosters_in
from lambdaboost.engines.job import Figure, History, Job

if TYPE_CHECKING:
    from rich.console import Console

MAXIMISED = ("ndcg", "map", "pre", "auc")


class Callbacks(TrainingCallback):
    """Carries out the steps of a job around the user's callbacks, which see an uninterrupted training."""

    def __init__(self, job: Job, user: Sequence[Any]) -> None:
        super().__init__()
        for callback in user:
            if not isinstance(callback, TrainingCallback):
                raise TypeError(f"callbacks has {callback!r}, expected xgboost.callback.TrainingCallback")
        self.job, self.user = job, list(dict.fromkeys(user))
        self.model: Any = None
        self.log: Any = None
        self.lengths: dict[tuple[str, str], int] = {}

    def replay(self, history: History) -> None:
        """Tell XGBoost's own callbacks, and the history of evaluations, of the rounds of a checkpoint."""
        for past, figures in enumerate(history):
            for data, measure, value, _ in figures:
                self.log.setdefault(data, {}).setdefault(measure, []).append(value)
            for callback in self.user:
                if isinstance(callback, EarlyStopping):  # which itself adds the rounds of a continued model
                    callback.after_iteration(self.model, past - len(history), self.log)
                elif isinstance(callback, LearningRateScheduler):
                    callback.after_iteration(self.model, past, self.log)
        self.lengths = _lengths(self.log)

    def before_training(self, model: Any) -> Any:
        """Call the user's."""
        for callback in self.user:
            model = callback.before_training(model)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Begin the steps at the first round."""
        if self.log is None:
            self.model, self.log = model, evals_log
            self.job.begin(boosters_in(model, self.job.data), self.replay)
        return any(one.before_iteration(model, self._round(one, epoch), evals_log) for one in self.user)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Carry out the steps; whether a callback stops the training, after which a round has no end."""
        new = {key for key, length in _lengths(evals_log).items() if length > self.lengths.get(key, 0)}
        self.job.after_round([figure for figure in figures_of(evals_log) if figure[:2] in new])
        self.lengths = _lengths(evals_log)
        asked = any(one.after_iteration(model, self._round(one, epoch), evals_log) for one in self.user)
        stops = asked or self.job.stops
        if not stops:
            self.job.end_round()
        return stops

    def after_training(self, model: Any) -> Any:
        """Call the user's."""
        for callback in self.user:
            model = callback.after_training(model)
        return model

    def _round(self, callback: TrainingCallback, epoch: int) -> int:
        """The round of an uninterrupted training, which early stopping knows; XGBoost itself counts from 0 again."""
        return epoch if isinstance(callback, EarlyStopping) else self.job.done + epoch


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
    if verbose_eval and not any(isinstance(callback, Progress) for callback in complete):
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


class Progress(TrainingCallback):
    """Show a training as it goes: rounds, rounds per second, time left, measures, and a schedule's weight.

    Redrawn in place on a terminal or in a notebook; silent elsewhere, such as in a log file. For ``callbacks=[…]`` of
    `xgboost.train`, `xgboost.cv`, `XGBRanker` and their counterparts in lambdaboost. Give stock `xgboost.train` also
    ``verbose_eval=False``, or it prints the same values line by line.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; by default standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaboost.xgboost import DMatrix, train
    >>> data = DMatrix(np.arange(8.0)[:, None], [0, 0, 1, 1, 0, 0, 1, 1], group=[4, 4])
    >>> train({"min_child_weight": 0}, data, rounds=2, callbacks=[Progress()]).num_boosted_rounds()
    2

    """

    def __init__(self, console: Console | None = None) -> None:
        super().__init__()
        self.console = console
        self._view: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Progress:
        # A console has locks, which cannot be copied.
        return Progress(self.console)

    def before_training(self, model: Any) -> Any:
        """Begin a new view."""
        from lambdaboost.engines.progress import LiveView, objective_in_training, rounds_in_training

        self._view = LiveView(self.console)
        self._view.start(rounds_in_training(ROUNDS_VARIABLE), objective_in_training(OBJECTIVE_VARIABLE))
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Show a round; never stop."""
        self._view.round_done(model.num_boosted_rounds() - 1, figures_of(evals_log))
        return False

    def after_training(self, model: Any) -> Any:
        """Show the last round, and delete the view: a fitted `XGBRanker` is pickled with its callbacks."""
        self._view.draw()
        self._view = None
        return model
