"""`progress`: a live view of a training, as a LightGBM callback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lambdaboost.engines.training_frame import objective_in_training
from lambdaboost.lightgbm._private import OBJECTIVE_VARIABLE

if TYPE_CHECKING:
    from rich.console import Console

    from lambdaboost.engines.progress import LiveView


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
    return _Progress(console)


class _Progress:
    """One view for each training that it is passed to."""

    def __init__(self, console: Console | None) -> None:
        self.console = console
        # LightGBM reads these: call it after each round, before early stopping ends the training.
        self.order = 25
        self.before_iteration = False
        self.view: LiveView | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> _Progress:
        # A console has locks, which cannot be copied.
        return _Progress(self.console)

    def __call__(self, env: Any) -> None:
        """Show a round."""
        from lambdaboost.engines.progress import Figure, LiveView

        if self.view is None or env.iteration == env.begin_iteration:
            self.view = LiveView(self.console)
            self.view.start(
                env.end_iteration - env.begin_iteration, objective_in_training(OBJECTIVE_VARIABLE)
            )
        self.view.round_done(
            env.iteration, [Figure(*result[:4]) for result in env.evaluation_result_list or ()]
        )
        if env.iteration + 1 == env.end_iteration:
            self.view.draw()
