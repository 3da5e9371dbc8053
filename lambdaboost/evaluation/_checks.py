"""Checks of the arguments of measures; each returns the argument in its canonical form."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets._checks import all_finite

LAST_RANK = 2**31 - 1  # the highest cutoff; no list is longer


def whole(name: str, given: Any, remedy: str) -> int:
    """An integer ≥ 1 and ≤ `LAST_RANK`."""
    try:
        n = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} is {given!r}: {remedy}") from None
    if n < 1 or isinstance(given, (bool, np.bool_)):
        raise ValueError(f"{name} is {given!r}: {remedy}")
    if n > LAST_RANK:
        raise ValueError(f"{name} is {given!r}, expected at most {LAST_RANK}: {remedy}")
    return n


def cutoff(given: Any) -> int | None:
    """The last rank that counts, ≥ 1, or None for all documents."""
    return None if given is None else whole("k", given, "give a whole number ≥ 1, or None for all documents")


def number(name: str, given: Any, remedy: str) -> int | float:
    """A real number, not infinite; integral ones as int, so that 1 and 1.0 give equal measures."""
    if not isinstance(given, Real) or isinstance(given, bool):
        raise TypeError(f"{name} is {given!r}: {remedy}")
    x = float(given)
    if math.isinf(x):
        raise ValueError(f"{name} is {given!r}: {remedy}")
    return int(x) if x.is_integer() else x


def empty(given: Any) -> float:
    """The value for an undefined query; any NaN becomes `math.nan`, which equals itself in tuples."""
    x = float(number("empty", given, "give a number, or float('nan') to leave such queries out"))
    return math.nan if math.isnan(x) else x


def threshold(given: Any) -> int | float:
    """The lowest grade that counts as relevant, > 0."""
    remedy = "give the lowest grade that counts as relevant, a number > 0"
    x = number("threshold", given, remedy)
    if not x > 0:
        raise ValueError(f"threshold is {given!r}: {remedy}")
    return x


def source(given: Any) -> str:
    """The name of a label source."""
    if not isinstance(given, str):
        raise TypeError(f"source is {given!r}: give the name of a label source, such as 'clicks'")
    return given


def refuse_labels(name: str, labels: NDArray[Any], bad: NDArray[np.bool_], remedy: str) -> None:
    """Raise for the first label that is `bad`, if any."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"{name}[{row}] is {labels[row]:g}: {remedy}")


def scores(given: ArrayLike, q: Queries) -> NDArray[np.float64]:
    """One score per document, float64 (n_documents,): finite, or −inf for a document that was not retrieved."""
    try:
        s = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"scores must be numbers, one per document: {error}") from None
    if s.shape != (q.n_documents,) or not all_finite(s):
        q.scores(np.where(np.isneginf(s), 0.0, s))
    return s
