"""Checks that several loaders and generators share."""

from __future__ import annotations

import operator
from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What `Queries` and the engines' data sets keep beside the label sources.
RESERVED = ("ids", "offsets", "relevance", "self", "sizes", "weight")


def all_finite(values: NDArray[Any]) -> bool:
    """Whether every number is finite; one pass where they are, which a sum that is finite shows."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def check_source_name(name: object, taken: Container[str] = ()) -> None:
    """Refuse a name that a label source cannot bear."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"a label source needs a name of type str, got {name!r}")
    if name in RESERVED:
        raise ValueError(
            f"a label source cannot be called {name!r}: {', '.join(RESERVED)} are taken; rename it"
        )
    if name in taken:
        raise ValueError(f"there is a label source {name!r} already: choose another name")


def check_count(name: str, value: object, least: int = 1) -> int:
    """`value` as an int of at least `least`."""
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
    if count < least:
        raise ValueError(f"{name} is {count}: it must be at least {least}")
    return count
