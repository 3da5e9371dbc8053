"""`Section`: the results of one part of the benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from experiments.common.report import table


@dataclass(frozen=True)
class Section:
    """A table with its method, remarks on these results, and an optional picture."""

    title: str
    method: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()
    draw: Callable[[Any], None] | None = None  # on matplotlib Axes

    def markdown(self) -> str:
        """The section as Markdown, without its picture."""
        remarks = "\n".join(f"- {remark}" for remark in self.remarks)
        parts = [f"## {self.title}", table(self.header, self.rows), self.method, remarks]
        return "\n\n".join(filter(None, parts))
