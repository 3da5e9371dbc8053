"""Argument checks shared by loaders and generators."""

from __future__ import annotations

import operator
from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Names of other fields of `Queries` and of the engines' data sets.
RESERVED = ("ids", "offsets", "position", "position_names", "relevance", "self", "sizes", "weight")


def all_finite(values: NDArray[Any]) -> bool:
    """Whether every number is finite; one pass where they are, which a sum that is finite shows."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def check_source_name(name: object, taken: Container[str] = ()) -> None:
    """Raise if `name` is not a string, is reserved, or is one of `taken`."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"a label source needs a name of type str, got {name!r}")
    if name in RESERVED:
        raise ValueError(
            f"a label source cannot be called {name!r}: {', '.join(RESERVED)} are reserved; rename it"
        )
    if name in taken:
        raise ValueError(f"label source {name!r} exists already: choose another name")


def check_count(name: str, value: object, least: int = 1) -> int:
    """Return `value` as an int; raise if it is less than `least`."""
    try:
        if isinstance(value, bool):
            raise TypeError
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
    if count < least:
        raise ValueError(f"{name} is {count}: give at least {least}")
    return count
