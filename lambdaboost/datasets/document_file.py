"""`DocumentFile`: what a table and LETOR text have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import naming_rows
from lambdaboost._words import listed, shown


class DocumentFile(ABC):
    """Documents in named columns: a `Table` or a `LetorFile`.

    Attributes
    ----------
    path : Path
    letor : bool
        Whether it is LETOR text, whose grades and queries are no columns.
    names : tuple of str
        The columns, in order.

    """

    path: Any
    letor = False
    names: Any

    @abstractmethod
    def row_name(self, row: int) -> str:
        """The words for a row."""

    def naming_rows(self, rows: NDArray[np.int64] | None = None) -> AbstractContextManager[None]:
        """Name the file and its row in errors about a row; `rows` says how the rows here were reordered."""
        return naming_rows(self.row_name, rows)

    def check(self, column: str, option: str = "") -> None:
        """Raise if there is no such column; `option` is where it was given."""
        if column not in self.names:
            before = f"{option}: " if option else ""
            raise ValueError(f"{before}{self.where} has no column {shown(column)}: {self.remedy(column)}")

    @property
    def where(self) -> str:
        """What messages call it."""
        return str(self.path)

    def remedy(self, column: str) -> str:
        """What helps where there is no such column."""
        return f"choose among {f'1 to {len(self.names)}' if self.letor else listed(self.names)}"

    def categories(self, columns: Sequence[str], named: Iterable[str] = ()) -> dict[str, tuple[Any, ...]]:
        """The values of the columns of a categorical type, and of those that are `named`; LETOR text has none."""
        return {}

    def widened(self, n: int) -> Self:
        """The same with columns of zeros up to column `n`, which LETOR text may omit."""
        return self

    def grouped(self, query: str) -> Self:
        """The same rows, each query together; `query` is its column. LETOR text is so."""
        return self
