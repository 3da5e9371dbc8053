"""`Progress`: a live view of a training, as an XGBoost callback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xgboost.callback import TrainingCallback

from lambdaboost.engines.training_frame import objective_in_training, rounds_in_training
from lambdaboost.xgboost._private import OBJECTIVE_VARIABLE, ROUNDS_VARIABLE

if TYPE_CHECKING:
    from rich.console import Console

    from lambdaboost.engines.progress import Figure, LiveView

# What XGBoost's early stopping maximises; lambdaboost names its measures to begin with one of these.
MAXIMISED = ("ndcg", "map", "pre", "auc")


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
        self._view: LiveView | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Progress:
        # A console has locks, which cannot be copied.
        return Progress(self.console)

    def before_training(self, model: Any) -> Any:
        """Begin a new view."""
        from lambdaboost.engines.progress import LiveView

        self._view = LiveView(self.console)
        rounds, objective = rounds_in_training(ROUNDS_VARIABLE), objective_in_training(OBJECTIVE_VARIABLE)
        self._view.start(rounds, objective)
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Show a round; never stop."""
        if self._view is not None:
            self._view.round_done(model.num_boosted_rounds() - 1, _figures(evals_log))
        return False

    def after_training(self, model: Any) -> Any:
        """Show the last round, and delete the view: a fitted `XGBRanker` is pickled with its callbacks."""
        if self._view is not None:
            self._view.draw()
        self._view = None
        return model


def _figures(evals_log: Any) -> list[Figure]:
    from lambdaboost.engines.progress import Figure

    return [
        Figure(data, name, _last(values), name.startswith(MAXIMISED))
        for data, of_data in evals_log.items()
        for name, values in of_data.items()
    ]


def _last(values: Any) -> float:
    """The last value; in a cross-validation, which records mean and deviation, the mean."""
    return float(values[-1][0] if isinstance(values[-1], tuple) else values[-1])
