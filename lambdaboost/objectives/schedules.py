"""Schedules: the weight of the second part of a blend at each boosting round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lambdaboost._checks import check_number
from lambdaboost._value import Value

Schedule = Callable[[int], float]  # any function of the round; those here are values too


class Constant(Value):
    """The same weight w in [0, 1] in every round; use it where an API requires a schedule rather than a number.

    >>> Constant(0.1)(7)
    0.1
    """

    w: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("w", self.w, 0, 1)

    def __call__(self, iteration: int) -> float:
        """The weight at a round."""
        return float(self.w)


class Linear(Value):
    """w_m = start + rate · m, clipped to [0, 1] (2011 paper, §6.2).

    >>> Linear(0.1, 0.001)(100), Linear(0.1, 0.01)(200), Linear(0.1, -0.01)(200)
    (0.2, 1.0, 0.0)
    """

    start: float
    rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("start", self.start, 0, 1)
        check_number("rate", self.rate, -1, 1)

    def __call__(self, iteration: int) -> float:
        """The weight at a round."""
        return min(max(self.start + self.rate * iteration, 0.0), 1.0)


class Exponential(Value):
    """w_0 = start, w_m = w_{m−1} + exp(−rate/m), clipped to [0, 1] (2011 paper, §6.2).

    >>> Exponential(0.1, 100.0)(0), round(Exponential(0.1, 100.0)(25), 4), Exponential(0.1, 100.0)(1000)
    (0.1, 0.1894, 1.0)
    """

    start: float
    rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("start", self.start, 0, 1)
        check_number("rate", self.rate, 0)

    def __call__(self, iteration: int) -> float:
        """The weight at a round."""
        rounds = np.arange(1, iteration + 1)
        return min(self.start + float(np.exp(-self.rate / rounds).sum()), 1.0)


SCHEDULES: dict[str, type[Any]] = {cls.__name__: cls for cls in (Constant, Linear, Exponential)}


def check_weight(name: str, value: object, high: float = math.inf) -> None:
    """Raise where `value` is neither a number in [0, high] nor a function of the round."""
    if isinstance(value, type) or not callable(value):
        check_number(name, value, 0, high)


def weight_at(schedule: Schedule, iteration: int, high: float = math.inf) -> float:
    """The weight at a round, checked."""
    w: Any = schedule(iteration)
    if isinstance(w, bool) or not isinstance(w, int | float | np.integer | np.floating) or not 0 <= w <= high:
        wanted = "≥ 0"
        if high < math.inf:
            wanted = f"in [0, {high:g}]"
        raise ValueError(
            f"the schedule {schedule!r} gives {w!r} at round {iteration}, expected a number {wanted}"
        )
    return float(w)
