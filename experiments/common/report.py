"""Writing of reports: text, tables and figures."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import lambdaboost
from lambdaboost._installed import package

Draw = Callable[[Any], Any]  # draws on matplotlib Axes


def write(out: Path, title: str, paper: str, sections: Iterable[str]) -> None:
    """Write report.md, with the folder's notes.md, if it exists, after the head, and print where it is."""
    notes = out / "notes.md"
    said = [notes.read_text(encoding="utf-8").strip()] if notes.exists() else []
    text = "\n\n".join([f"# {title}", paper, *said, *sections]) + "\n"
    (out / "report.md").write_text(text, encoding="utf-8")
    print(f"written: {out / 'report.md'}", file=sys.stderr)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table as Markdown, with the first column aligned left and the others right.

    >>> print(table(["Method", "@3"], [["LightGBM", "61.66"]]))
    | Method | @3 |
    |:---|---:|
    | LightGBM | 61.66 |
    """
    lines = [f"| {' | '.join(cells)} |" for cells in (header, *rows)]
    lines.insert(1, f"|:---|{'---:|' * (len(header) - 1)}")
    return "\n".join([*lines, *(["", caption] if caption else [])])


def draw(path: Path, *panels: Draw, width: float = 5.5) -> None:
    """Draw panels side by side to a PNG file."""
    figure = Figure(figsize=(width * len(panels), 3.8), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        panel(axes)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    figure.savefig(path, dpi=80)


def legend(axes: Any, **options: Any) -> None:
    """A legend without a frame."""
    axes.legend(frameon=False, fontsize=8, **options)


def versions(*packages: str) -> str:
    """Versions of lambdaboost, `packages` and Python."""
    named = [f"{name} {package(name).__version__}" for name in packages]
    return ", ".join(
        [f"lambdaboost {lambdaboost.__version__}", *named, f"Python {platform.python_version()}"]
    )
