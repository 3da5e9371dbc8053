"""What an engine's `train` or `cv` tells no callback: the objective, and on XGBoost the number of rounds.

It is read off the local variables of the functions that are waiting. Each engine's `_private.py` has their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lambdaboost._stock.frames import waiting
from lambdaboost.objectives import Objective


def objective_in_training(variable: str) -> Objective | None:
    """The objective of the training that calls, from the variable of that name; None if it is not lambdaboost's."""
    return next((found for found in map(_objective, _values(variable)) if found is not None), None)


def rounds_in_training(variable: str) -> int | None:
    """The number of rounds of the training that calls, from the variable of that name; None outside of any."""
    return next((value for value in _values(variable) if isinstance(value, int)), None)


def _values(variable: str) -> Iterator[Any]:
    """The values of a local variable in every function that is waiting, the innermost first."""
    return (frame.f_locals.get(variable) for frame in waiting())


def _objective(value: Any) -> Objective | None:
    """The objective within what `LGBMRanker`, `ObjectiveInRounds` and Newton leaves wrap around it."""
    for candidate in (value, getattr(value, "func", None), getattr(value, "objective", None)):
        if isinstance(candidate, Objective):
            return candidate
    return None
