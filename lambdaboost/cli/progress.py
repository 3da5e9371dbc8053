"""Progress bars of boosting rounds, on terminals only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import Progress

from lambdaboost.cli.console import ERR
from lambdaboost.engines.progress import Figure, LiveView, columns
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective


class Rounds:
    """One progress bar: `advance` it by a round; does nothing without a terminal."""

    def __init__(self, progress: Progress, label: str, total: int) -> None:
        self.progress = progress
        self.task = progress.add_task(label, total=total, figure="")

    def advance(self, figure: float | None = None) -> None:
        """Advance by one round."""
        self.progress.advance(self.task)


class History:
    """Shows the rounds of a training and records their validation scores."""

    def __init__(self, rounds: int, objective: Any, measure: Measure | None) -> None:
        self.measure = measure
        self.figures: list[float] = []
        self._done = 0
        self._view = LiveView(ERR)
        self._view.start(rounds, objective if isinstance(objective, Objective) else None)

    def advance(self, figure: float | None = None) -> None:
        """Advance by one round, with its score on the validation part."""
        shown = []
        if figure is not None:
            self.figures.append(figure)
            shown = [Figure("valid", repr(self.measure), figure, True)]
        self._view.round_done(self._done, shown)
        self._done += 1

    def end(self) -> None:
        """Show the last round."""
        self._view.draw()

    def as_json(self) -> dict[str, dict[str, list[float | None]]]:
        """The validation scores by part and measure, like the engines' evaluation results."""
        if not self.figures:
            return {}
        return {"valid": {repr(self.measure): [None if math.isnan(f) else round(f, 6) for f in self.figures]}}


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Rich progress bars on standard error, if it is a terminal."""
    with Progress(*columns(), console=ERR, disable=not ERR.is_terminal) as progress:
        yield progress
