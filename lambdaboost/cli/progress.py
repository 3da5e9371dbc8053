"""A live bar of boosting rounds on a terminal, and silence elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lambdaboost.cli.console import ERR


class Rounds:
    """One bar: `advance` it by a round; does nothing where there is no terminal."""

    def __init__(self, progress: Progress, label: str, total: int) -> None:
        self.progress = progress
        self.task = progress.add_task(label, total=total, figure="")
        self.round, self.best, self.best_round = 0, float("-inf"), 0

    def advance(self, figure: float | None = None) -> None:
        """A round is done, with its figure on the validation part."""
        self.round += 1
        if figure is None:
            self.progress.advance(self.task)
            return
        if figure > self.best:
            self.best, self.best_round = figure, self.round
        shown = f"{figure:.4f}, best {self.best:.4f} at {self.best_round}"
        self.progress.update(self.task, advance=1, figure=shown)


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Rich's progress on standard error, if that is a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[figure]}", markup=False),
    )
    with Progress(*columns, console=ERR, disable=not ERR.is_terminal) as progress:
        yield progress
