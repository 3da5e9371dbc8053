"""`Value`: the base of objectives, schedules and measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value:
    """A frozen dataclass, without a decorator, whose `text` and `repr` show what differs from the defaults.

    A subclass is entered in the `registry` of its kind by its name, unless it is defined with ``registered=False``, as
    bases are; a class of your own does not replace one of lambdaboost's. One with a ``__post_init__`` of its own calls
    ``super().__post_init__()`` first.

    Fields are plain Python values, so that equal values have equal texts: ``np.int64(3)`` becomes 3, a list or an
    array a tuple, and both ``np.float64(2)`` and 2 become 2.0 in a field of floats. NaN equals NaN. A copy is the value
    itself: LightGBM deep-copies its parameters, and still trains with the object that you passed.
    """

    registry: ClassVar[dict[str, type[Any]] | None] = None

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Raise where an engine that was given the class, in place of an object, calls it with scores and data."""
        # Curves, which no engine calls, are made of two arrays, which are also what LGBMRanker passes.
        if issubclass(cls, Callable):  # type: ignore[arg-type]
            match given:
                case (np.ndarray(), data, *_) if isinstance(data, np.ndarray) or hasattr(data, "get_label"):
                    raise TypeError(
                        f"the engine was given the class {cls.__name__}: give an object of it, such as {cls.__name__}()"
                    )
        return super().__new__(cls)

    def __init_subclass__(cls, registered: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(frozen=True, repr=False, eq=False)(cls)
        if registered and cls.registry is not None:
            before = cls.registry.get(cls.__name__)
            if before is None or not before.__module__.startswith("lambdaboost."):
                cls.registry[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Turn the fields into plain Python values, and whole numbers into floats where a field is annotated so.

        A subclass that checks its fields calls this first.
        """
        for spec in fields(self):  # type: ignore[arg-type]
            # Annotations are text, such as "float | None" and "tuple[float, ...]".
            value = _plain(getattr(self, spec.name), as_float="float" in str(spec.type))
            object.__setattr__(self, spec.name, value)

    def _fields(self) -> dict[str, Any]:
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), *self._fields().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._fields()), ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def text(self) -> str:
        """The text of which `parse` and the command line make an equal value."""
        return self._format(text_of)

    def __repr__(self) -> str:
        """The same, in which a long curve of `Propensities` is abridged."""
        return self._format(lambda item: text_of(item) if isinstance(item, float) else repr(item))

    def _format(self, format_item: Callable[[Any], str]) -> str:
        items = []
        for spec in sorted(fields(self), key=lambda spec: bool(spec.kw_only)):  # type: ignore[arg-type]
            value, default = getattr(self, spec.name), _plain(spec.default)
            if default is MISSING or not (value is default or value == default):
                items.append(f"{spec.name}={format_item(value)}")
        return f"{type(self).__name__}({', '.join(items)})"


def text_of(value: Any) -> str:
    """The text of a value or of what a field holds: it reads back, unless it is a function."""
    if isinstance(value, Value):
        return value.text
    if type(value) is tuple:
        return f"({', '.join(map(text_of, value))}{',' * (len(value) == 1)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def _plain(value: Any, as_float: bool = False) -> Any:
    """NumPy scalars as Python's, arrays and lists as tuples, and on request whole numbers as floats.

    NaN is one object, by which tuples are equal, and −0 is 0, which it equals, so that their texts are the same.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if type(value) in (tuple, list):
        return tuple(_plain(item, as_float) for item in value)
    if as_float and type(value) is int:
        value = float(value)
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return math.nan
    return value + 0.0
