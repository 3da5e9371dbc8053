"""The progress of a search on a terminal: trainings, time left, the best value so far."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from lambdaboost.engines.progress import TimeLeft
from lambdaboost.tuning.search import Search
from lambdaboost.tuning.task import Task
from lambdaboost.tuning.trial import Trial


class Progress:
    """A bar of trainings, or of minutes; silent where standard error is no terminal."""

    def __init__(self, trainings: int | None, minutes: float | None, task: Task) -> None:
        console = Console(stderr=True, highlight=False)
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TimeLeft(),
            TextColumn("{task.fields[best]}", markup=False),
        )
        self._bars = Bars(*columns, console=console, disable=not console.is_terminal)
        self._trainings, self._seconds = trainings, None if minutes is None else 60 * minutes
        self._measure = task.measures[0]
        self._names = [candidate.name for candidate in task.candidates]

    def __enter__(self) -> Progress:
        self._bars.start()
        self._begin = time.monotonic()
        self._bar = self._bars.add_task("tuning", total=1.0, best="")
        return self

    def __exit__(self, *_: Any) -> None:
        self._bars.stop()

    def advance(self, search: Search) -> None:
        """Show that a trial is finished."""
        done = search.trainings
        shares = [
            done / self._trainings if self._trainings else 0.0,
            (time.monotonic() - self._begin) / self._seconds if self._seconds else 0.0,
        ]
        text = f"{done} of {self._trainings} trainings" if self._trainings else f"{done} trainings"
        best = search.best
        said = "" if best is None else self._said(best, search)
        self._bars.update(self._bar, completed=min(1.0, max(shares)), description=text, best=said)

    def _said(self, best: Trial, search: Search) -> str:
        return f"best {self._measure!r} {best.means(search.weight)[0]:.4f}, {self._names[best.candidate]}"
