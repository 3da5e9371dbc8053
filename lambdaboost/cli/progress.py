"""Live bars of boosting rounds on a terminal, and silence elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import Progress

from lambdaboost.cli.console import ERR
from lambdaboost.engines.progress import Figure, LiveView, columns
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective


class Rounds:
    """One bar of many: `advance` it by a round; does nothing where there is no terminal."""

    def __init__(self, progress: Progress, label: str, total: int) -> None:
        self.progress = progress
        self.task = progress.add_task(label, total=total, figure="")

    def advance(self, figure: float | None = None) -> None:
        """A round is done."""
        self.progress.advance(self.task)


class History:
    """The rounds of one training, shown as they go, and their figures on the validation part, kept."""

    def __init__(self, rounds: int, objective: Objective, measure: Measure | None) -> None:
        self.measure = measure
        self.figures: list[float] = []
        self._done = 0
        self._view = LiveView(ERR)
        self._view.start(rounds, objective)

    def advance(self, figure: float | None = None) -> None:
        """A round is done, with its figure on the validation part."""
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
        """The figures as the engines keep theirs, by part and measure."""
        if not self.figures:
            return {}
        return {"valid": {repr(self.measure): [None if math.isnan(f) else round(f, 6) for f in self.figures]}}


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Rich's progress on standard error, if that is a terminal."""
    with Progress(*columns(), console=ERR, disable=not ERR.is_terminal) as progress:
        yield progress
