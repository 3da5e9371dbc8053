"""`Section`: the results of one part of the benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from experiments.common.report import table


@dataclass(frozen=True)
class Section:
    """A table with its method, and an optional picture."""

    title: str
    method: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    draw: Callable[[Any], None] | None = None  # on matplotlib Axes

    def markdown(self) -> str:
        """The section as Markdown, without its picture."""
        return "\n\n".join([f"## {self.title}", table(self.header, self.rows), self.method])
