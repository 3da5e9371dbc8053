"""Checks of arguments: each raises one line that names the remedy.

`check_whole` and `check_number` also return the plain number. All replace scikit-learn's, whose import takes twice as
long as that of lambdaboost.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

MAX_CUTOFF = 2**31 - 1  # the highest cutoff; no list is longer
MAX_SIGMA = 1e15  # the highest σ, whose square and whose product with a score difference are finite
# Names of other fields of `Queries` and of the engines' data sets.
RESERVED = ("ids", "offsets", "position", "position_names", "relevance", "self", "sizes", "weight")


class RowError(ValueError):
    """What is wrong in a row; whoever knows its place says so by `naming_rows`.

    >>> raise RowError("relevance", 3, "is -1", "labels must be ≥ 0")
    Traceback (most recent call last):
    lambdaboost._checks.RowError: relevance[3] is -1: labels must be ≥ 0
    """

    def __init__(self, name: str, row: int, what: str, remedy: str) -> None:
        super().__init__(name, row, what, remedy)
        self.name, self.row, self.what, self.remedy = name, row, what, remedy

    def __str__(self) -> str:
        return f"{self.name}[{self.row}] {self.what}: {self.remedy}"


@contextmanager
def naming_rows(place: Callable[[int], str]) -> Iterator[None]:
    """Name the place of a row in its `RowError`.

    >>> with naming_rows(lambda row: f"row {1 + row} of log.csv"):
    ...     raise RowError("column 'grade'", 3, "is -1", "labels must be ≥ 0")
    Traceback (most recent call last):
    ValueError: column 'grade' is -1 in row 4 of log.csv: labels must be ≥ 0
    """
    try:
        yield
    except RowError as error:
        raise ValueError(f"{error.name} {error.what} in {place(error.row)}: {error.remedy}") from None


@contextmanager
def error_context(before: str) -> Iterator[None]:
    """Prefix an error, for example with the data that it is about; a `RowError` stays one.

    >>> with error_context("valid"):
    ...     raise RowError("relevance", 3, "is -1", "labels must be ≥ 0")
    Traceback (most recent call last):
    lambdaboost._checks.RowError: valid: relevance[3] is -1: labels must be ≥ 0
    """
    try:
        yield
    except RowError as error:
        raise RowError(f"{before}: {error.name}", error.row, error.what, error.remedy) from None
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{before}: {error}") from None


def shorten_repr(value: Any) -> str:
    """The repr of a wrong value, at most 100 characters of it: a class in place of an object is given whole arrays."""
    text = repr(value)
    if len(text) > 100:
        return f"{text[:100]}…"
    return text


def check_whole(name: str, value: Any, least: int = 1, most: int = MAX_CUTOFF, remedy: str = "") -> int:
    """A whole number from `least` to `most`.

    >>> check_whole("rounds", np.int64(3))
    3
    >>> check_whole("rounds", 2.5)
    Traceback (most recent call last):
    TypeError: rounds is 2.5: give a whole number ≥ 1
    """
    remedy = remedy or f"give a whole number ≥ {least}"
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        n = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {shorten_repr(value)}: {remedy}") from None
    if n < least:
        raise ValueError(f"{name} is {shorten_repr(value)}: {remedy}")
    if n > most:
        raise ValueError(f"{name} is {shorten_repr(value)}: give a whole number from {least} to {most}")
    return n


def check_number(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    remedy: str = "",
) -> int | float:
    """A finite number in [low, high], > `above` and < `below`; integral ones as int, so that 1 and 1.0 are equal.

    >>> check_number("weight", 0.5, 0, 1)
    0.5
    >>> check_number("step", 0, above=0)
    Traceback (most recent call last):
    ValueError: step is 0: give a finite number > 0
    >>> check_number("weight", math.nan)
    Traceback (most recent call last):
    ValueError: weight is nan: give a finite number
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} is {shorten_repr(value)}: {remedy or 'give a number'}")
    x = float(value)
    if not (math.isfinite(x) and low <= x <= high and above < x < below):
        bounds = []
        if above > -math.inf:
            bounds.append(f"> {above:g}")
        elif low > -math.inf:
            bounds.append(f"≥ {low:g}")
        if high < math.inf:
            bounds.append(f"≤ {high if isinstance(high, int) else f'{high:g}'}")
        if below < math.inf:
            bounds.append(f"< {below:g}")
        remedy = remedy or f"give a finite number {' and '.join(bounds)}".rstrip()
        raise ValueError(f"{name} is {shorten_repr(value)}: {remedy}")
    return int(x) if x.is_integer() else x


def check_tuple(name: str, value: object, such_as: str) -> None:
    """Raise where `value` is no tuple; fields of a `Value` that are given lists or arrays hold tuples."""
    if not isinstance(value, tuple):
        raise TypeError(f"{name} is {shorten_repr(value)}: give a tuple such as {such_as}")


def check_choice(name: str, value: object, choices: Any) -> None:
    """Raise where `value` is none of the choices of a `Literal`."""
    if value not in get_args(choices):
        raise ValueError(f"{name} is {shorten_repr(value)}, expected one of {', '.join(get_args(choices))}")


def check_sigma(value: Any) -> None:
    """Raise where σ is not a number > 0 and ≤ `MAX_SIGMA`."""
    check_number("sigma", value, high=MAX_SIGMA, above=0)


def check_new_source(name: object, taken: Container[str] = ()) -> None:
    """Raise if `name` cannot name a new label source: no string, reserved, or one of `taken`."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"a label source needs a name of type str, got {shorten_repr(name)}")
    if name in RESERVED:
        raise ValueError(
            f"a label source cannot be called {name!r}: {', '.join(RESERVED)} are reserved; rename it"
        )
    if name in taken:
        raise ValueError(f"label source {name!r} exists already: choose another name")


def check_rows(name: str, given: int, of: str, n: int) -> None:
    """Raise if an array does not have as many rows as `of`."""
    if given != n:
        raise ValueError(f"{name} has {given} rows, {of} has {n}: give one value per document")


def refuse_labels(name: str, labels: NDArray[Any], bad: NDArray[np.bool_], remedy: str) -> None:
    """Raise for the first label that is `bad`, if any."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        value = float(labels[row])
        text = f"{value:g}"
        if value.is_integer() and abs(value) < 1e15:
            text = f"{value:.0f}"
        raise RowError(name, row, f"is {text}", remedy)
