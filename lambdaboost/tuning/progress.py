"""The progress of a search on a terminal, and the time it takes, said beforehand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lambdaboost._words import counted
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.search import Search


@contextmanager
def progress(request: Request) -> Iterator[Callable[[Search], None]]:
    """A bar of settings, or of minutes, to be called after every one; silent where standard error is no terminal."""
    console = Console(stderr=True, highlight=False)
    columns = TextColumn("{task.description}", markup=False), BarColumn(bar_width=16), TimeRemainingColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        bar = bars.add_task("tuning", total=1.0)
        noted: list[str] = []

        def advance(search: Search) -> None:
            if not noted and console.is_terminal and search.seconds_each is not None:
                noted.append(expected(request, len(search.trials), search.seconds_each))
                console.print(noted[0])
            done, most, minutes = len(search.trials), request.settings, request.minutes
            share = max(
                done / most if most else 0.0,
                (time.time() - search.begin) / (60 * minutes) if minutes else 0.0,
            )
            said = f"{done} of {most} settings" if most else counted(done, "setting")
            if (best := search.best) is not None:
                name = request.candidates[best.candidate].name
                said += f", best {request.measures[0]!r} {best.means[0]:.4f} of {name}"
            bars.update(bar, completed=min(1.0, share), description=said)

        yield advance


def expected(request: Request, done: int, seconds: float) -> str:
    """How long a search takes at most beyond what is done, in words, if a training takes so many seconds."""
    minutes = request.minutes
    folds = f" in {request.each} folds" if request.each > 1 else ""
    if request.settings is None:
        return f"settings{folds}, {seconds * request.each:.3g} s each at most, for {minutes:g} min"
    settings = request.settings - done
    trainings = settings * request.each
    needed = trainings * seconds / 60 / request.n_workers
    least = needed if minutes is None else min(needed, minutes)
    took = f"{least:.0f} min" if least >= 2 else f"{60 * least:.0f} s"
    most = counted(trainings, "training")
    return f"{counted(settings, 'setting')}{folds}: at most {most}, about {took}"
