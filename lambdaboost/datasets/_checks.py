"""Checks that several loaders and generators share."""

from __future__ import annotations

import operator
from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Queries takes these as arguments of its own, so no label source can bear their names.
RESERVED = ("relevance", "sizes", "ids", "weight")


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


def split_query(ids: NDArray[Any]) -> tuple[Any, int] | None:
    """The first query whose rows are not adjacent, with the row where it comes back; None if there is none.

    >>> split_query(np.array(["a", "b", "a"])), split_query(np.array([2, 2, 1]))
    (('a', 2), None)
    """
    starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
    _, first = np.unique(ids[starts], return_index=True)
    again = np.setdiff1d(np.arange(starts.size), first)
    if not again.size:
        return None
    row = int(starts[again[0]])
    return ids[row].item(), row
