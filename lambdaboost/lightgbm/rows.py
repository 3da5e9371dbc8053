"""`Rows`, `ShardRows`: features that LightGBM reads in batches, of a `lightgbm.Sequence`, several or a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.datasets.folder import VALUES
from lambdaboost.datasets.shards import Shards


class Rows(lgb.Sequence):
    """The rows of several Sequences, one Sequence after the other.

    LightGBM trusts that each batch has as many rows as asked for, all as wide as the first; here that is checked. It
    samples rows of float64 only; here they may be any numbers.
    """

    def __init__(self, parts: Sequence[lgb.Sequence]) -> None:
        self.parts = parts
        self.starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
        if not len(self):
            raise ValueError("data has no rows: give at least one")
        self.batch_size = min(getattr(part, "batch_size", None) or lgb.Sequence.batch_size for part in parts)
        self.width = None
        self.width = self[0].size

    @property
    def shape(self) -> tuple[int, int | None]:
        """Rows and features."""
        return len(self), self.width

    def __len__(self) -> int:
        """Count the rows."""
        return int(self.starts[-1])

    def __getitem__(self, at: Any) -> NDArray[np.floating]:
        """Read a row, a slice of rows, or the rows of an array."""
        if isinstance(at, slice):
            first, last, _ = at.indices(len(self))
            pieces = [self._read(part, first, last) for part in self._parts_of(first, last)]
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        if np.ndim(at):
            return np.stack([self[row] for row in at])
        (part,) = self._parts_of(at, at + 1)
        return self._row(part, int(at - self.starts[part]))

    def batches(self) -> Iterator[NDArray[np.floating]]:
        """All rows, some at a time."""
        for first in range(0, len(self), self.batch_size):
            yield self[first : first + self.batch_size]

    def _parts_of(self, first: int, last: int) -> range:
        bounds = np.searchsorted(self.starts, [first, last - 1], side="right")
        return range(int(bounds[0]) - 1, int(bounds[1]))

    def _read(self, part: int, first: int, last: int) -> NDArray[np.floating]:
        start, end = (int(bound) for bound in self.starts[part : part + 2])
        a, b = max(first, start) - start, min(last, end) - start
        rows = self._numbers(part, f"{a}:{b}", self.parts[part][a:b], (b - a, self.width))
        return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)

    def _row(self, part: int, row: int) -> NDArray[np.float64]:
        given = self._numbers(part, str(row), self.parts[part][row], (self.width,))
        return given.astype(np.float64)

    def _numbers(self, part: int, at: str, given: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
        rows, place = np.asarray(given), f"data[{part}][{at}]" if len(self.parts) > 1 else f"data[{at}]"
        if rows.dtype.kind not in "biuf":
            raise TypeError(f"{place} is {rows.dtype}: give numbers")
        if rows.shape != (shape if self.width else rows.shape[:1]):
            raise ValueError(
                f"{place} has shape {rows.shape}, expected {shape}: give every row that is asked for, each with the "
                "features of the first"
            )
        return rows


class ShardRows(lgb.Sequence):
    """The rows of `Shards` in ascending order, of which a batch is held; a row before it begins a new pass.

    LightGBM asks for them twice: once for a sample, once for all.
    """

    batches: Iterator[Collection]
    held: NDArray[Any]
    first: int  # the row of the first that is held

    def __init__(self, shards: Shards) -> None:
        self.shards, self.batch_size = shards, max(1, VALUES // shards.n_features)
        self._begin()

    def __len__(self) -> int:
        """Count the rows."""
        return self.shards.queries.n_documents

    def __getitem__(self, at: Any) -> NDArray[np.floating]:
        """Read a row, or a slice of rows."""
        if not isinstance(at, slice):
            return self[at : at + 1][0]
        first, last, _ = at.indices(len(self))
        if first < self.first:
            self._begin()
        found = []
        while first < last:
            found.append(self.held[first - self.first : last - self.first])
            first += len(found[-1])
            if first < last:
                self.first += len(self.held)
                held = next(self.batches).features
                self.held = held if isinstance(held, np.ndarray) else held.toarray()
        return np.concatenate(found)

    def _begin(self) -> None:
        self.batches, self.first = iter(self.shards), 0
        self.held = np.empty((0, self.shards.n_features))


def features_of(data: Any) -> Any:
    """A Sequence, or a list of them, as `Rows`; any other features themselves; raises for a file that is not there."""
    if isinstance(data, str | Path) and not Path(data).is_file() and "://" not in str(data):
        raise ValueError(
            f"data is {str(data)!r}, where there is no file: give features, or the path of a file"
        )
    parts = [data] if isinstance(data, lgb.Sequence) else data
    are_sequences = isinstance(parts, list) and parts and isinstance(parts[0], lgb.Sequence)
    return Rows(parts) if are_sequences and not isinstance(data, Rows) else data
