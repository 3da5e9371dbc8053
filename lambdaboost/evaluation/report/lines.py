"""Colours, dashes and markers that distinguish curves, also for the colour-blind."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours; curves differ in their dashes as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def line(at: int) -> dict[str, Any]:
    """Colour, dashes and marker of curve number `at`, from 0; the first 49 differ in colour or dashes."""
    turn = at // len(COLOURS)
    return {
        "color": COLOURS[at % len(COLOURS)],
        "linestyle": DASHES[(at + turn) % len(DASHES)],
        "marker": MARKS[at % len(MARKS)],
        "markersize": 4,
    }


def plain(axes: Any, xlabel: str, ylabel: str) -> None:
    """Label the axes and add a faint grid."""
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
