"""`Value`: the base of objectives, schedules and measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, Self

import numpy as np


class Value:
    """A frozen dataclass whose `repr` shows what differs from the defaults and reads back.

    Fields are stored as plain Python values, so that equal values have equal texts: ``np.float64(2)`` and 2 become 2.0
    in a field of floats, ``np.int64(3)`` becomes 3.

    Values of one class are equal where their fields are, and NaN equals NaN. (In dataclasses this depends on the
    version of Python.)

    A deep copy is the immutable value itself. LightGBM deep-copies its parameters, so it still trains with the object
    that you passed.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__post_init__ = _coercing(cls.__post_init__)  # type: ignore[assignment]
        if "__eq__" not in vars(cls):  # otherwise the dataclass decorator adds its own
            cls.__eq__ = Value.__eq__  # type: ignore[method-assign]
            cls.__hash__ = Value.__hash__  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        """Check the fields."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((type(self), self._compared()))

    def _compared(self) -> tuple[Any, ...]:
        return tuple(_comparable(getattr(self, f.name)) for f in fields(self) if f.compare)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            if default is MISSING or not _same(value, default):
                shown.append(f"{field.name}={_text(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def _coercing(check: Callable[[Any], None]) -> Callable[[Any], None]:
    """`check` with two conversions: NumPy scalars to Python's before it, numbers to their field's type after it."""

    @wraps(check)
    def coerced(value: Any) -> None:
        for field in fields(value):
            object.__setattr__(value, field.name, _plain(getattr(value, field.name)))
        check(value)
        for field in fields(value):
            # Measures with integers as defaults of float fields convert their numbers themselves.
            if "float" in str(field.type) and type(field.default) is not int:
                object.__setattr__(value, field.name, _as_float(getattr(value, field.name)))

    return coerced


def _plain(value: Any) -> Any:
    """NumPy scalars as Python's, also in tuples and lists."""
    if isinstance(value, np.generic):
        return value.item()
    return type(value)(map(_plain, value)) if type(value) in (tuple, list) else value


def _as_float(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_as_float, value))
    if type(value) not in (int, float):
        return value
    return float(value) if value else 0.0  # −0.0 equals 0.0, so its text must be the same


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(_comparable(a) == _comparable(b))


def _comparable(value: Any) -> Any:
    """The value with one object for all NaN: tuples compare by identity first."""
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    return math.nan if isinstance(value, float) and value != value else value


def _text(value: Any) -> str:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f"float('{value}')"
    return repr(value)
