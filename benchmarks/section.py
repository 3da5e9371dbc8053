"""`Section`: what one part of the benchmark found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from experiments.common.report import table


@dataclass(frozen=True)
class Section:
    """A table, how it was measured, what a reader must know of these very figures, and a picture if there is one."""

    title: str
    method: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()
    draw: Callable[[Any], None] | None = None  # into a matplotlib Axes

    def markdown(self) -> str:
        """The section without its picture."""
        remarks = "\n".join(f"- {remark}" for remark in self.remarks)
        parts = [f"## {self.title}", table(self.header, self.rows), self.method, remarks]
        return "\n\n".join(filter(None, parts))
