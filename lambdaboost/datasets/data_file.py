"""`open_data`: a file of documents, either `LetorFile` or `Table`, which have the same named columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.document_file import DocumentFile
from lambdaboost.datasets.letor import read_letor
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.tables import Table, is_table


@dataclass(frozen=True, eq=False)
class LetorFile(DocumentFile):
    """LETOR text as a table of the columns 1, 2, …, whose grades and queries are not among them."""

    letor = True

    path: Path
    collection: Collection

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The numbers from 1 as text."""
        return tuple(map(str, range(1, self.collection.n_features + 1)))

    def __len__(self) -> int:
        """Number of documents."""
        return self.collection.queries.n_documents

    def row_name(self, row: int) -> str:
        """The words for a row, counted from 1."""
        return f"row {1 + row} of {self.path}"

    def matrix(self, names: Sequence[str]) -> Any:
        """Features: these columns, dense or CSR."""
        if len(names) == len(self.names):
            return self.collection.features
        return self.collection.features[:, [int(name) - 1 for name in names]]

    def values(self, name: str) -> NDArray[Any]:
        """One column, shape (n_documents,)."""
        column = self.collection.features[:, [int(name) - 1]]
        return np.asarray(column if isinstance(column, np.ndarray) else column.toarray()).ravel()

    def numbers(self, name: str, otherwise: str = "") -> NDArray[Any]:
        """The same, for every column holds numbers."""
        return self.values(name)

    def positions(self, name: str) -> Positions:
        """The positions in a column, where 0 stands for a row that was not shown."""
        values = self.values(name)
        return positions_of(f"column {name}", np.where(values == 0, np.nan, values))

    def widened(self, n: int) -> LetorFile:
        """The same text with columns of zeros up to column `n`, which LETOR text may omit."""
        X = self.collection.features
        if isinstance(X, np.ndarray):
            X = np.pad(X, ((0, 0), (0, n - X.shape[1])))
        else:
            X = X.copy()
            X.resize((X.shape[0], n))
        return replace(self, collection=replace(self.collection, features=X))


def open_data(path: Path, text: Sequence[str | None] = ()) -> LetorFile | Table:
    """Read a file: CSV or Parquet by its suffix, otherwise LETOR text; the columns `text` of CSV are no numbers.

    Raises
    ------
    ValueError
        If the file is a folder, is damaged or cannot be parsed.
    FileNotFoundError
        If it does not exist.

    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a file, LETOR text, CSV or Parquet")
    return Table.read(path, text) if is_table(path) else LetorFile(path, read_letor(path))


def as_grouped(file: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Reorder values from the order of a file to that of its rows, which `Table.grouped` changes."""
    return values[file.order] if isinstance(file, Table) and file.order is not None else values
