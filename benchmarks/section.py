"""`Section`: what one part of the benchmark found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lambdaboost.bench.timing import Told


@dataclass(frozen=True)
class Grid:
    """A table of text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """With the figures to the right."""
        lines = [self.columns, ("---", *("---:" for _ in self.columns[1:])), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


@dataclass(frozen=True)
class Section:
    """What one part of the benchmark found.

    Attributes
    ----------
    title, method : str
        What was measured, and how.
    grid : Grid
        The figures for reading, ratios first.
    figures : dict
        All figures, for JSON.
    remarks : tuple of str
        What a reader must know of these very figures.
    draw : callable, optional
        Draws the section's picture into a matplotlib Axes.

    """

    title: str
    method: str
    grid: Grid
    figures: dict[str, Any]
    remarks: tuple[str, ...] = ()
    draw: Callable[[Any], None] | None = None


@dataclass(frozen=True)
class Setting:
    """What every section is told."""

    threads: int
    told: Told = lambda step: None

    def telling(self, where: object) -> Told:
        """Tells what is timed next there."""
        return lambda name: self.told(f"{where}: {name}")
