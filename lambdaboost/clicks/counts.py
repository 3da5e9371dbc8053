"""`Counts`: impressions and clicks by document and position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Counts:
    """Impressions and clicks of each document at each position where it was shown; arrays of shape (n,).

    Attributes
    ----------
    index : int64
        The number of each row's document, ascending: its place in ``ClickLog.documents``.
    position : int32
        Ascending for each document.
    impressions, clicks : float64
        Sums of the weights of the rows, and of those that were clicked.
    query_of_document : int64 (n_documents,)
        The number of each document's query, from 0.
    n_positions : int
        The last position.
    names : tuple of str, or None
        The categories of the positions.

    """

    index: NDArray[np.int64]
    position: NDArray[np.int32]
    impressions: NDArray[np.float64]
    clicks: NDArray[np.float64]
    query_of_document: NDArray[np.int64]
    n_positions: int
    names: tuple[str, ...] | None

    @property
    def query_index(self) -> NDArray[np.int64]:
        """The number of each row's query, from 0."""
        return self.query_of_document[self.index]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.query_of_document.size

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.query_of_document.max()) + 1

    def by_position(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of values of the rows at each position, float64 (n_positions,)."""
        return np.bincount(self.position - 1, values, minlength=self.n_positions).astype(np.float64)

    def by_document(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of values of the rows of each document, float64 (n_documents,)."""
        return np.bincount(self.index, values, minlength=self.n_documents).astype(np.float64)
