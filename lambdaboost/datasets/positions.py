"""`Positions`: where each row was shown, as ranks or as codes of a bias factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets._given import numbers

LARGEST = (
    1_000_000  # curves and biases have one figure for each rank, and a column of ids or times is no rank
)
WANTED = "give the rank at which a row was shown, a whole number from 1, or NaN where it was not shown"


@dataclass(frozen=True, eq=False)
class Positions:
    """The position of each row: a rank from 1, or with `names` the code of a category; 0 where a row was not shown.

    Attributes
    ----------
    codes : int32 (n_rows,)
        Read-only.
    names : tuple of str, or None
        The category of code k is ``names[k - 1]``; None for ranks.

    """

    codes: NDArray[np.int32]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        codes = self.codes.view()
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)

    def take(self, rows: NDArray[Any]) -> Positions:
        """The positions of some rows, with the same codes."""
        return Positions(self.codes[rows], self.names)

    @classmethod
    def concat(cls, parts: Sequence[Positions]) -> Positions:
        """The positions of all parts, with the names of all.

        Raises
        ------
        ValueError
            If some parts are ranks and others have names.

        """
        if len({part.names for part in parts}) == 1:
            return cls(np.concatenate([part.codes for part in parts]), parts[0].names)
        if any(part.names is None for part in parts):
            raise ValueError(
                "position is a rank in one part and a name in another: give the same kind in all parts"
            )
        names = sorted({name for part in parts for name in part.names or ()})
        code = {name: k for k, name in enumerate(names, 1)}
        codes = [
            np.array([0, *(code[name] for name in part.names or ())], dtype=np.int32)[part.codes]
            for part in parts
        ]
        return cls(np.concatenate(codes), tuple(names))


def positions_of(name: str, values: Any) -> Positions:
    """Positions from ranks ≥ 1 or categories, one per row; a missing one is a row that was not shown.

    Text and categoricals are categories, with codes from 1 in sorted order; a pandas categorical also has codes for
    categories that are in none of its rows.

    Raises
    ------
    TypeError, ValueError
        If a position is 0, negative, not whole or infinite, numbers and text are mixed, or there is more than one
        column.

    >>> positions_of("position", [2, 1, None]).codes
    array([2, 1, 0], dtype=int32)
    >>> positions_of("position", ["top", "side", "top"])
    Positions(codes=array([2, 1, 2], dtype=int32), names=('side', 'top'))

    """
    if isinstance(values, Positions):
        return values
    given = getattr(values, "array", values)  # the array of a pandas series
    if hasattr(given, "categories") and hasattr(given, "codes"):
        return _named(np.asarray(given.categories), np.asarray(given.codes, dtype=np.int64))
    given = _plain(values)
    if given.ndim != 1:
        raise ValueError(f"{name} has shape {given.shape}, expected one dimension: one position per row")
    if given.dtype.kind != "O":
        return Positions(_ranks(name, given))
    import pandas as pd

    missing = np.asarray(pd.isna(given), dtype=np.bool_)
    text = np.array([isinstance(value, str) for value in given], dtype=np.bool_)
    if not text.any():
        return Positions(_ranks(name, np.where(missing, np.nan, given)))
    if (mixed := ~(text | missing)).any():
        row = int(mixed.argmax())
        raise TypeError(
            f"{name}[{row}] is {given[row]!r} among text: give ranks in all rows, or text in all rows"
        )
    names, index = np.unique(given[text].astype(np.str_), return_inverse=True)
    codes = np.full(given.size, -1, dtype=np.int64)
    codes[text] = index
    return _named(names, codes)


def _plain(values: Any) -> NDArray[Any]:
    """One array, of objects if there may be text or None in it."""
    if isinstance(values, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(values), np.array(None), np.ma.getdata(values).astype(object))
    if hasattr(values, "to_list") and not isinstance(values.dtype, np.dtype):  # pandas' own types, and polars
        numeric = hasattr(values.dtype, "is_numeric") and values.dtype.is_numeric()
        values = values.to_numpy() if numeric else values.to_list()
    # NumPy would turn a NaN or a rank among text into text.
    given = np.asarray(values, dtype=object) if isinstance(values, list | tuple) else np.asarray(values)
    return given.astype(object) if given.dtype.kind == "U" else given


def _ranks(name: str, given: NDArray[Any]) -> NDArray[np.int32]:
    """Ranks as int32; 0 where one is missing."""
    if given.dtype.kind == "b" or (given.dtype.kind == "O" and any(isinstance(rank, bool) for rank in given)):
        raise TypeError(f"{name} is true or false: {WANTED}, or text for a category")
    ranks = numbers(name, given)
    missing = np.isnan(ranks)
    wrong = ~missing & ~((ranks >= 1) & (ranks <= LARGEST) & (ranks == np.floor(ranks)))
    if wrong.any():
        row = int(wrong.argmax())
        if LARGEST < ranks[row] < np.inf:
            raise ValueError(
                f"{name}[{row}] is {ranks[row]:.15g}: give a rank of at most {LARGEST}, or text for a category"
            )
        raise ValueError(f"{name}[{row}] is {ranks[row]:g}: {WANTED}")
    return np.where(missing, 0, ranks).astype(np.int32)


def _named(categories: NDArray[Any], index: NDArray[np.int64]) -> Positions:
    """Codes from 1 in the sorted order of the categories; `index` is that of each row's, −1 where it is missing."""
    order = np.argsort(categories, kind="stable")
    code = np.zeros(order.size + 1, dtype=np.int32)  # the last one is that of the index −1
    code[order] = np.arange(1, order.size + 1)
    return Positions(code[index], tuple(str(category) for category in categories[order]))
