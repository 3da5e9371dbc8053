"""`Positions`: where each row was shown, as ranks or as codes of a bias factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import refuse_labels, row_of
from lambdaboost.datasets.arrays import as_array, as_floats, is_missing

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

    def take(self, rows: NDArray[Any] | slice) -> Positions:
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
        if all(part.names is None for part in parts):
            return cls(np.concatenate([part.codes for part in parts]))
        if any(part.names is None and part.codes.any() for part in parts):  # not where no row was shown
            raise ValueError(
                "position is a rank in one part and a name in another: give the same kind in all parts"
            )
        names = tuple(sorted({name for part in parts for name in part.names or ()}))
        codes = [np.append(0, np.searchsorted(names, part.names or ()) + 1)[part.codes] for part in parts]
        return cls(np.concatenate(codes).astype(np.int32), names)


def positions_of(name: str, values: Any) -> Positions:
    """Positions from ranks ≥ 1 or categories, one per row; a missing one is a row that was not shown.

    Text and categoricals are categories, with codes from 1 in sorted order; a pandas categorical also has codes for
    categories that are in none of its rows.

    >>> positions_of("position", [2, 1, None]).codes
    array([2, 1, 0], dtype=int32)
    >>> positions_of("position", ["top", "side", "top"])
    Positions(codes=array([2, 1, 2], dtype=int32), names=('side', 'top'))

    """
    if isinstance(values, Positions):
        return values
    categorical = getattr(values, "array", values)  # the array of a pandas series
    if hasattr(categorical, "categories") and hasattr(categorical, "codes"):
        order = np.argsort(np.asarray(categorical.categories), kind="stable")
        code = np.append(np.argsort(order) + 1, 0).astype(np.int32)  # the last one is that of missing rows
        categories = tuple(str(name) for name in np.asarray(categorical.categories)[order])
        return Positions(code[np.asarray(categorical.codes, dtype=np.int64)], categories)
    given = as_array(values)
    if given.ndim != 1:
        raise ValueError(f"{name} has shape {given.shape}, expected one dimension: one position per row")
    if given.dtype.kind not in "OU":
        return Positions(_ranks(name, given))
    missing = is_missing(given)
    text = np.array([isinstance(value, str) for value in given], dtype=np.bool_)
    if not text.any():
        return Positions(_ranks(name, np.where(missing, np.nan, given)))
    if (mixed := ~(text | missing)).any():
        row = int(mixed.argmax())
        raise TypeError(
            f"{name} is {given[row]!r} in {row_of(name, row)}, among text: give ranks in all rows, or text in all"
        )
    names, codes = np.unique(given[text].astype(np.str_)), np.zeros(given.size, dtype=np.int32)
    codes[text] = np.searchsorted(names, given[text].astype(np.str_)) + 1
    return Positions(codes, tuple(names.tolist()))


def _ranks(name: str, given: NDArray[Any]) -> NDArray[np.int32]:
    """Ranks as int32; 0 where one is missing."""
    if given.dtype.kind == "b" or (given.dtype.kind == "O" and any(isinstance(rank, bool) for rank in given)):
        raise TypeError(f"{name} is true or false: {WANTED}, or text for a category")
    ranks = as_floats(name, given)
    missing = np.isnan(ranks)
    large = (ranks > LARGEST) & (ranks < np.inf)
    refuse_labels(name, ranks, large, f"give a rank of at most {LARGEST}, or text for a category")
    refuse_labels(
        name, ranks, ~missing & ~((ranks >= 1) & (ranks <= LARGEST) & (ranks == np.floor(ranks))), WANTED
    )
    return np.where(missing, 0, ranks).astype(np.int32)
