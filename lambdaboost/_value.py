"""`Value`: the base of objectives, schedules and measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import wraps
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value:
    """A frozen dataclass, without a decorator, whose `text` and `repr` show what differs from the defaults.

    A subclass is entered in the `registry` of its kind by its name, unless it is defined with ``registered=False``, as
    bases are; lambdaboost's own names stand.

    Fields are plain Python values, so that equal values have equal texts: ``np.int64(3)`` becomes 3, and both
    ``np.float64(2)`` and 2 become 2.0 in a field of floats. NaN equals NaN. A copy is the value itself: LightGBM
    deep-copies its parameters, and still trains with the object that you passed.
    """

    registry: ClassVar[dict[str, type[Any]] | None] = None

    def __init_subclass__(cls, registered: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__post_init__ = _coercing(cls.__post_init__)  # type: ignore[assignment]
        dataclass(frozen=True, repr=False, eq=False)(cls)
        if registered and cls.registry is not None:
            before = cls.registry.get(cls.__name__)
            if before is None or _is_own(cls) or not _is_own(before):
                cls.registry[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Check the fields."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((type(self), self._compared()))

    def _compared(self) -> tuple[Any, ...]:
        return tuple(_comparable(getattr(self, of.name)) for of in _fields(self) if of.compare)

    @property
    def text(self) -> str:
        """The text of which `parse` and the command line make an equal value."""
        return self._written(text_of)

    def __repr__(self) -> str:
        """The same, in which a long curve of `Propensities` is abridged."""
        return self._written(lambda item: text_of(item) if isinstance(item, float) else repr(item))

    def _written(self, written: Callable[[Any], str]) -> str:
        shown = []
        for of in sorted(_fields(self), key=lambda of: bool(of.kw_only)):
            value = getattr(self, of.name)
            if of.default is MISSING or not _same(value, of.default):
                shown.append(f"{of.name}={written(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The `repr` in IPython and Hypothesis, which would print the class's registry as a field."""
        printer.text(repr(self))

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without what is cached beside them."""
        return {of.name: getattr(self, of.name) for of in _fields(self)}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def text_of(value: Any) -> str:
    """The text of a value or of what a field holds: it reads back, unless it is a function."""
    if isinstance(value, Value):
        return value.text
    if type(value) is tuple:
        return f"({', '.join(map(text_of, value))}{',' * (len(value) == 1)})"
    return f"float('{value}')" if isinstance(value, float) and not math.isfinite(value) else repr(value)


def _fields(value: Value) -> tuple[Any, ...]:
    return fields(value)  # type: ignore[arg-type]


def _is_own(cls: type[Any]) -> bool:
    return cls.__module__.split(".")[0] == "lambdaboost"


def _coercing(check: Callable[[Any], None]) -> Callable[[Any], None]:
    """`check` with two conversions: NumPy scalars to Python's before it, numbers to their field's type after it."""

    @wraps(check)
    def coerced(value: Any) -> None:
        for of in fields(value):
            object.__setattr__(value, of.name, _plain(getattr(value, of.name)))
        check(value)
        for of in fields(value):
            # Measures with integers as defaults of float fields convert their numbers themselves.
            if "float" in str(of.type) and type(of.default) is not int:
                object.__setattr__(value, of.name, _as_float(getattr(value, of.name)))

    return coerced


def _plain(value: Any) -> Any:
    """NumPy scalars as Python's, also in tuples and lists; arrays as tuples."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.ndim:
        return tuple(value.tolist())
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
