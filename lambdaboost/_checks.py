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


class Column(str):
    """A column's name in messages, such as ``column 'grade'``, with the table or file whose rows they name.

    >>> Column("column 'grade'", "log.csv", 1).row(0)
    'row 1 of log.csv'
    """

    of: str
    first: int

    def __new__(cls, text: str, of: str = "", first: int = 0) -> Column:
        """`first` is the number of the first row: 0 in a table, 1 in a file."""
        made = super().__new__(cls, text)
        made.of, made.first = of, first
        return made

    def row(self, row: int) -> str:
        """The words for a row."""
        return f"row {self.first + row}{self.of and f' of {self.of}'}"


def row_of(name: str, row: int) -> str:
    """The words for a row of what is called `name`: a `Column`, or any array."""
    return name.row(row) if isinstance(name, Column) else f"row {row}"


class RowError(ValueError):
    """A wrong value in a row.

    >>> raise RowError("relevance", 3, -1.0, "labels must be ≥ 0")
    Traceback (most recent call last):
    lambdaboost._checks.RowError: relevance[3] is -1: labels must be ≥ 0
    """

    def __init__(self, name: str, row: int, value: Any, remedy: str, before: str = "") -> None:
        super().__init__(name, row, value, remedy, before)
        self.name, self.row, self.value, self.remedy, self.before = name, row, value, remedy, before

    def __str__(self) -> str:
        if isinstance(self.name, Column):
            return f"{self.before}{self.name} is {self.text} in {self.name.row(self.row)}: {self.remedy}"
        return f"{self.before}{self.name}[{self.row}] is {self.text}: {self.remedy}"

    @property
    def text(self) -> str:
        """The value."""
        whole = float(self.value).is_integer() and abs(self.value) < 1e15
        return f"{self.value:.0f}" if whole else f"{self.value:g}"


@contextmanager
def naming_rows(place: Callable[[int], str]) -> Iterator[None]:
    """Name the place of a row in its `RowError`."""
    try:
        yield
    except RowError as error:
        where = f"{error.before}{place(error.row)}"
        raise ValueError(f"{where}: {error.name} is {error.text}: {error.remedy}") from None


@contextmanager
def error_context(before: str) -> Iterator[None]:
    """Prefix an error, for example with the data that it is about; a `RowError` stays one.

    >>> with error_context("valid"):
    ...     raise RowError("relevance", 3, -1.0, "labels must be ≥ 0")
    Traceback (most recent call last):
    lambdaboost._checks.RowError: valid: relevance[3] is -1: labels must be ≥ 0
    """
    try:
        yield
    except RowError as error:
        raise RowError(
            error.name, error.row, error.value, error.remedy, f"{before}: {error.before}"
        ) from None
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
        remedy = remedy or f"give a finite number {' and '.join(bounds)}"
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


def refuse_labels(name: str, labels: NDArray[Any], bad: NDArray[np.bool_], remedy: str) -> None:
    """Raise for the first label that is `bad`, if any."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise RowError(name, row, float(labels[row]), remedy)
