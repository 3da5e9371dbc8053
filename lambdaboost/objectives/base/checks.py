"""Checks of the arguments of objectives and schedules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets._checks import check_count
from lambdaboost.evaluation._checks import LAST_RANK

STEEPEST = 1e15  # the highest σ, whose square and whose product with a score difference are finite


def check_number(
    name: str, value: object, low: float, high: float = float("inf"), open_low: bool = False
) -> None:
    """Raise where `value` is not a finite number in [low, high], or in (low, high] with `open_low`."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} is {value!r}, expected a number")
    if not (low <= value <= high and value < float("inf")) or (open_low and value == low):
        bound = f"> {low:g}" if open_low else f"≥ {low:g}"
        upper = (
            "" if high == float("inf") else f" and ≤ {high}" if isinstance(high, int) else f" and ≤ {high:g}"
        )
        raise ValueError(f"{name} is {value!r}, expected a finite number {bound}{upper}")


def check_sigma(value: object) -> None:
    """Raise where σ is not a number > 0 and ≤ `STEEPEST`."""
    check_number("sigma", value, 0, STEEPEST, open_low=True)


def check_whole(name: str, value: object, least: int) -> None:
    """Raise where `value` is not a whole number ≥ `least`."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    check_count(name, value, least)


def check_rank(name: str, value: object) -> None:
    """Raise where `value` is not a rank that can cut lists off: a whole number ≥ 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {value!r}, expected a whole number ≥ 1")
    check_number(name, value, 1, LAST_RANK)


def check_shown(q: Queries, source: str, rows: NDArray[np.bool_]) -> None:
    """Raise if one of these rows, which have labels in `source`, has no position."""
    missing = rows & (q.required_position() == 0)
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(
            f"{source}[{row}] is {q.source(source)[row]:g}, but the row has no position: "
            "give the position at which it was shown, or NaN as its label"
        )
