"""`open_table`: a table, a file or LETOR text as a `Table`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._warn import warn
from lambdaboost._words import shown
from lambdaboost.datasets.letor import read_letor
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import Queries
from lambdaboost.datasets.tables import Table, as_frame, is_table


@dataclass(frozen=True, eq=False)
class LetorTable(Table):
    """LETOR text as a table of the columns 1, 2, …, whose grades and queries are not among them."""

    whole: Any = None  # its Collection

    @property
    def names(self) -> list[str]:
        """The numbers from 1 as text."""
        return list(map(str, range(1, self.whole.n_features + 1)))

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.whole.n_features)

    @property
    def queries(self) -> Queries:
        """The queries, with the grades."""
        queries: Queries = self.whole.queries
        return queries

    def __len__(self) -> int:
        return self.queries.n_documents

    def check(self, column: Any, argument: str = "") -> None:
        """Raise if there is no such column; `argument` is what named it."""
        if column not in self.names:
            before = f"{argument}: " if argument else ""
            raise ValueError(
                f"{before}{self.where} has no column {shown(column)}: choose among 1 to {self.n_features}"
            )

    def values(self, column: Any) -> NDArray[Any]:
        """One column, shape (n_documents,)."""
        found = self.whole.features[:, [int(column) - 1]]
        return np.asarray(found if isinstance(found, np.ndarray) else found.toarray()).ravel()

    def numbers(self, column: Any) -> NDArray[Any]:
        """The same, for every column holds numbers."""
        return self.values(column)

    def matrix(self, columns: Any) -> Any:
        """Some columns, dense or CSR."""
        if len(columns) == self.n_features:
            return self.whole.features
        return self.whole.features[:, [int(column) - 1 for column in columns]]

    def positions(self, column: Any) -> Positions:
        """The positions in a column, where 0 stands for a row that was not shown."""
        values = self.values(column)
        return positions_of(self.called(column), np.where(values == 0, np.nan, values))

    def widened(self, n: int) -> LetorTable:
        """The same text with columns of zeros up to column `n`, which it may omit."""
        X = self.whole.features
        if isinstance(X, np.ndarray):
            X = np.pad(X, ((0, 0), (0, n - X.shape[1])))
        else:
            X = X.copy()
            X.resize((X.shape[0], n))
        return replace(self, whole=replace(self.whole, features=X))


def open_table(data: Any, text: Iterable[str | None] = (), name: str = "df") -> Table | None:
    """A table, or a file: CSV or Parquet by its suffix, otherwise LETOR text; None for an array.

    The columns `text` of CSV are no numbers; messages call a table `name`.

    Raises
    ------
    ValueError
        If the file is a folder, is damaged or cannot be parsed, or there are no rows.
    FileNotFoundError
        If it does not exist.

    """
    table: Table | None = None
    if isinstance(data, Table):
        table = data
    elif isinstance(data, str | os.PathLike):
        table = _read_file(Path(data), text)
    elif (frame := as_frame(name, data)) is not None:
        table = Table(frame, name)
    if (len(table) if table is not None else getattr(data, "shape", (1,))[0]) == 0:
        raise ValueError(
            f"{name if table is None else table.where} has no rows: give those of one query at least"
        )
    return table


def _read_file(path: Path, text: Iterable[str | None]) -> Table:
    return (
        Table.read(path, text) if is_table(path) else LetorTable(None, str(path), 1, whole=read_letor(path))
    )


def fitted_to(table: LetorTable, n: int, warns: bool = False) -> LetorTable:
    """LETOR text with the `n` columns of the training data; raises if it has more; `warns` if it has fewer."""
    if table.n_features > n:
        raise ValueError(
            f"{table.where} has {table.n_features} features, the training data only {n}: give files of the same data, "
            f"or train with {table.n_features} features"
        )
    if table.n_features == n:
        return table
    if warns:
        warn(
            f"{table.where} has {table.n_features} features, the training data {n}: missing ones count as 0; if the "
            "file has other features, the scores are meaningless"
        )
    return table.widened(n)


def with_storage(features: Any, sparse: bool | None) -> Any:
    """Features dense or sparse as in training, since XGBoost treats absent values of sparse data as missing."""
    is_dense = isinstance(features, np.ndarray)
    if sparse is None or sparse != is_dense:
        if not is_dense:
            features = features.copy()
            features.eliminate_zeros()
        return features
    if not sparse:
        return features.toarray()
    from scipy.sparse import csr_matrix

    return csr_matrix(features)
