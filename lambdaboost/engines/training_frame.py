"""What an engine's `train` or `cv` works with and tells no callback: the objective, and XGBoost's number of rounds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from lambdaboost.objectives import Objective

# What `lightgbm.train` and `xgboost.train` call the function that gives the gradient.
NAMES = ("fobj", "obj")


def objective_in_training() -> Objective | None:
    """The objective of the training that calls; None where it is not one of lambdaboost."""
    for variables in _callers():
        for name in NAMES:
            found = _objective(variables.get(name))
            if found is not None:
                return found
    return None


def rounds_in_training() -> int | None:
    """How many rounds `xgboost.train` or `xgboost.cv` was asked for; None where neither calls."""
    for variables in _callers():
        rounds = variables.get("num_boost_round")
        if isinstance(rounds, int):
            return rounds
    return None


def _callers() -> Iterator[Mapping[str, Any]]:
    """The local variables of every function that is waiting, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame.f_locals
        frame = frame.f_back


def _objective(given: Any) -> Objective | None:
    """The objective, out of what `LGBMRanker`, `ToldRounds` and Newton leaves wrap around it."""
    for candidate in (given, getattr(given, "func", None), getattr(given, "objective", None)):
        if isinstance(candidate, Objective):
            return candidate
    return None
