"""`LiveView`: the progress of a training, redrawn in place on a terminal or in a notebook; silent elsewhere."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic
from typing import Any, NamedTuple

from rich.console import Console, Group
from rich.control import Control
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

from lambdaboost.objectives import Objective
from lambdaboost.objectives.blend import blend_weight

PAUSE = 0.1  # seconds between two redraws of fast rounds
SHOWN = 8  # values with their own line


class Figure(NamedTuple):
    """A measure of a data set after a round."""

    data: str
    measure: str
    value: float
    higher_is_better: bool


class Speed(ProgressColumn):
    """Rounds per second, or seconds per round if they are slow."""

    def render(self, task: Task) -> Text:
        """The speed of a task."""
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:.1f} rounds/s" if speed >= 1 else f"{1 / speed:.1f} s/round")


class TimeLeft(ProgressColumn):
    """The time left, and at the end the time taken."""

    def render(self, task: Task) -> Text:
        """The time of a task."""
        if task.finished and task.finished_time is not None:
            return Text(f"in {_clock(task.finished_time)}")
        left = task.time_remaining
        return Text("" if left is None else f"{_clock(left)} left")


def columns() -> tuple[ProgressColumn, ...]:
    """The columns of every bar: label, rounds, speed, time left, and the field `figure`."""
    return (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        Speed(),
        TimeLeft(),
        TextColumn("{task.fields[figure]}", markup=False),
    )


class LiveView:
    """A bar of rounds with the measures below it.

    Between two redraws the terminal is in its normal state, with no thread, hidden cursor or redirected output, because
    LightGBM's early stopping and Ctrl-C end a training without notifying its callbacks.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; standard error without it.

    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = Console(stderr=True, highlight=False) if console is None else console
        notebook = self.console.is_jupyter
        self.is_seen = notebook or (self.console.is_terminal and not self.console.is_dumb_terminal)
        self._show = _Notebook().show if notebook else self._redraw
        self._height = 0

    def start(self, rounds: int | None, objective: Objective | None) -> None:
        """Begin a training of `rounds` rounds; None if unknown."""
        self.objective = objective
        self._bar = Progress(*columns(), console=self.console, auto_refresh=False)
        self._task = self._bar.add_task("training", total=rounds, figure="")
        self._best: dict[tuple[str, str], tuple[float, int]] = {}
        self._figures: Sequence[Figure] = ()
        self._done = 0
        self._height = 0
        # Messages of others on the first round, such as LightGBM's early stopping, come before the first drawing.
        self._drawn = monotonic()

    def round_done(self, iteration: int, figures: Sequence[Figure]) -> None:
        """Record boosting round `iteration`, from 0."""
        self._done += 1
        self._figures = figures
        for data, measure, value, higher in figures:
            best, _ = self._best.get((data, measure), (float("-inf") if higher else float("inf"), 0))
            if value > best if higher else value < best:
                self._best[data, measure] = value, self._done
        weight = None if self.objective is None else blend_weight(self.objective, iteration)
        self._bar.update(self._task, advance=1, figure="" if weight is None else f"weight {weight:.4f}")
        if monotonic() - self._drawn >= PAUSE:
            self.draw()

    def draw(self) -> None:
        """Draw the current state."""
        if self.is_seen and self._done:
            self._show(Group(self._bar.get_renderable(), _table(self._figures, self._best)))
        self._drawn = monotonic()

    def _redraw(self, picture: Group) -> None:
        """Replace the lines drawn before."""
        lines = self.console.render_lines(picture, pad=False)
        with self.console:
            up = [(ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)] * self._height
            self.console.control(Control(ControlType.CARRIAGE_RETURN, *up))
            self.console.print(picture)
        self._height = len(lines)


class _Notebook:
    """One output of a notebook cell; rich's own would need ipywidgets."""

    def __init__(self) -> None:
        self.handle: Any = None

    def show(self, picture: Group) -> None:
        """Show a picture in place of the previous one."""
        from IPython.display import display

        content = {"text/plain": as_text(picture)}
        if self.handle is None:
            self.handle = display(content, raw=True, display_id=True)
        else:
            self.handle.update(content, raw=True)


def as_text(picture: Any) -> str:
    """A picture as plain text."""
    page = Console(file=io.StringIO(), width=100, force_terminal=False, force_jupyter=False, highlight=False)
    page.print(picture)
    return str(page.file.getvalue()).rstrip("\n")  # type: ignore[attr-defined]


def _table(figures: Sequence[Figure], best: dict[tuple[str, str], tuple[float, int]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for data, measure, value, _ in figures[:SHOWN]:
        top, at = best.get((data, measure), (value, 0))
        shown = (f"  {data}", measure, f"{value:.4f}", f"best {top:.4f} at {at}" if at else "")
        table.add_row(*map(Text, shown))
    if len(figures) > SHOWN:
        table.add_row(Text(f"  and {len(figures) - SHOWN} more"))
    return table


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
