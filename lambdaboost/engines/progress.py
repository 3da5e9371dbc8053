"""`LiveView`: the progress of a training, redrawn in place on a terminal or in a notebook; silent elsewhere."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

from rich.console import Console, Group
from rich.control import Control
from rich.progress_bar import ProgressBar
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

from lambdaboost._warn import waiting
from lambdaboost.engines.job import Figure
from lambdaboost.objectives import Objective
from lambdaboost.objectives.blend import blend_weight

PAUSE = 0.1  # seconds between two redraws of fast rounds
SHOWN = 8  # values with their own line


class LiveView:
    """A bar of rounds with the measures below it, on standard error unless a console is given.

    Between two redraws the terminal is in its normal state, with no thread, hidden cursor or redirected output, because
    LightGBM's early stopping and Ctrl-C end a training without notifying its callbacks.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = Console(stderr=True, highlight=False) if console is None else console
        self.in_notebook = self.console.is_jupyter
        self.is_seen = self.in_notebook or (self.console.is_terminal and not self.console.is_dumb_terminal)

    def start(self, rounds: int | None, objective: Objective | None) -> None:
        """Begin a training of `rounds` rounds; None if unknown."""
        self.rounds, self.objective = rounds, objective
        self._best: dict[tuple[str, str], tuple[float, int]] = {}
        self._figures: Sequence[Figure] = ()
        self._weight: float | None = None
        self._done = self._height = 0
        self._output: Any = None
        # Messages of others on the first round, such as LightGBM's early stopping, come before the first drawing.
        self._started = self._drawn = monotonic()

    def round_done(self, iteration: int, figures: Sequence[Figure]) -> None:
        """Record boosting round `iteration`, from 0."""
        self._done += 1
        self._figures = figures
        for data, measure, value, higher in figures:
            best, _ = self._best.get((data, measure), (float("-inf") if higher else float("inf"), 0))
            if value > best if higher else value < best:
                self._best[data, measure] = value, self._done
        self._weight = None if self.objective is None else blend_weight(self.objective, iteration)
        if monotonic() - self._drawn >= PAUSE:
            self.draw()

    def draw(self) -> None:
        """Draw the current state, in place of the previous one."""
        if self.is_seen and self._done:
            picture = Group(self._bar(), self._table())
            if self.in_notebook:
                self._show(picture)
            else:
                lines = self.console.render_lines(picture, pad=False)
                with self.console:
                    up = [(ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)] * self._height
                    self.console.control(Control(ControlType.CARRIAGE_RETURN, *up))
                    self.console.print(picture)
                self._height = len(lines)
        self._drawn = monotonic()

    def _show(self, picture: Group) -> None:
        """One output of a notebook cell; rich's own would need ipywidgets."""
        from IPython.display import display

        page = Console(
            file=io.StringIO(), width=100, force_terminal=False, force_jupyter=False, highlight=False
        )
        page.print(picture)
        content = {"text/plain": page.file.getvalue().rstrip("\n")}  # type: ignore[attr-defined]
        if self._output is None:
            self._output = display(content, raw=True, display_id=True)
        else:
            self._output.update(content, raw=True)

    def _bar(self) -> Table:
        seconds = max(monotonic() - self._started, 1e-9)
        speed = self._done / seconds
        time = ""
        if self.rounds is not None:
            left = (self.rounds - self._done) / speed
            time = f"{_clock(left)} left" if self._done < self.rounds else f"in {_clock(seconds)}"
        bar = Table.grid(padding=(0, 1, 0, 0))
        bar.add_row(
            "training",
            ProgressBar(self.rounds, self._done, width=16),
            f"{self._done}/{'?' if self.rounds is None else self.rounds}",
            f"{speed:.1f} rounds/s" if speed >= 1 else f"{1 / speed:.1f} s/round",
            time,
            "" if self._weight is None else f"weight {self._weight:.4f}",
        )
        return bar

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2, 0, 0))
        for data, measure, value, _ in self._figures[:SHOWN]:
            top, at = self._best.get((data, measure), (value, 0))
            shown = (f"  {data}", measure, f"{value:.4f}", f"best {top:.4f} at {at}" if at else "")
            table.add_row(*map(Text, shown))
        if len(self._figures) > SHOWN:
            table.add_row(Text(f"  and {len(self._figures) - SHOWN} more"))
        return table


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


# What an engine's `train` or `cv` tells no callback is read off the local variables of the functions that are waiting.


def objective_in_training(variable: str) -> Objective | None:
    """The objective of the training that calls, from the variable of that name; None if it is not lambdaboost's."""
    for frame in waiting():
        value = frame.f_locals.get(variable)
        # `LGBMRanker` wraps it.
        for candidate in (value, getattr(value, "func", None)):
            if isinstance(candidate, Objective):
                return candidate
    return None


def rounds_in_training(variable: str) -> int | None:
    """The number of rounds of the training that calls, from the variable of that name; None outside of any."""
    values = (frame.f_locals.get(variable) for frame in waiting())
    return next((value for value in values if isinstance(value, int)), None)
