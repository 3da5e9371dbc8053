"""`Counts`: impressions and clicks by document and position."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks._keys import Keys
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets.positions import Positions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Counts:
    """Impressions and clicks of each document at each position where it was shown; arrays of shape (n,).

    Attributes
    ----------
    query, document : arrays
        The keys of each row, as in the log.
    position : int32
        Ascending for each document.
    impressions, clicks : float64
        Sums of the weights of the rows, and of those that were clicked.
    index : int64
        The number of each row's document, ascending: its place in ``ClickLog.documents``.
    query_index : int64
        The number of each row's query, from 0.
    query_of_document : int64 (n_documents,)
        The number of each document's query.
    n_documents, n_queries, n_positions : int
        The length of these numberings.
    names : tuple of str, or None
        The categories of the positions.

    """

    query: NDArray[Any]
    document: NDArray[Any]
    position: NDArray[np.int32]
    impressions: NDArray[np.float64]
    clicks: NDArray[np.float64]
    index: NDArray[np.int64]
    query_index: NDArray[np.int64]
    query_of_document: NDArray[np.int64]
    n_documents: int
    n_queries: int
    n_positions: int
    names: tuple[str, ...] | None

    @classmethod
    def of(
        cls,
        keys: Keys,
        query: NDArray[Any],
        document: NDArray[Any],
        positions: Positions,
        clicked: NDArray[np.bool_],
        weight: NDArray[np.float32] | None,
    ) -> Counts:
        """Add up the rows of a log."""
        import pandas as pd

        names = positions.names
        n_positions = int(positions.codes.max()) if names is None else len(names)
        cell = keys.of_row * n_positions + (positions.codes - 1)
        # By hash, which is several times as fast as sorting all rows.
        place, cells = pd.factorize(cell, sort=False)
        order = np.argsort(cells, kind="stable")
        impressions = np.bincount(place, weight, minlength=cells.size)[order].astype(np.float64)
        taken = clicked.astype(np.float64) if weight is None else np.where(clicked, weight, 0.0)
        clicks = np.bincount(place, taken, minlength=cells.size)[order].astype(np.float64)
        index, at = np.divmod(np.asarray(cells)[order], n_positions)
        first = keys.first_row[index]
        counts = cls(
            query[first],
            document[first],
            (at + 1).astype(np.int32),
            impressions,
            clicks,
            index,
            keys.query[index],
            keys.query,
            keys.query.size,
            keys.n_queries,
            n_positions,
            names,
        )
        for field in fields(counts):
            if isinstance(column := getattr(counts, field.name), np.ndarray):
                column.flags.writeable = False
        return counts

    def __len__(self) -> int:
        return self.position.size

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame of query, document, position, impressions and clicks."""
        import pandas as pd

        named: Any = self.position if self.names is None else np.array(self.names)[self.position - 1]
        return pd.DataFrame(
            {
                "query": self.query,
                "document": self.document,
                "position": named,
                "impressions": self.impressions,
                "clicks": self.clicks,
            }
        )

    def rates(
        self, smoothing: tuple[float, float] = (0.0, 0.0), propensities: Propensities | None = None
    ) -> NDArray[np.float64]:
        """The click rate of each document, as `ClickLog.rates`."""
        a, b = checked_smoothing(smoothing)
        looks_of_row = self.impressions
        if propensities is not None:
            if not isinstance(propensities, Propensities):
                raise TypeError(f"propensities is {propensities!r}, expected Propensities([1, 0.5, …])")
            looks_of_row = looks_of_row * self.propensity_of_row(propensities)
        clicks = self.by_document(self.clicks)
        looks = self.by_document(looks_of_row)
        with np.errstate(invalid="ignore"):
            rate = (clicks + a) / (looks + a + b)
        return np.minimum(rate, 1.0)

    def propensity_of_row(self, propensities: Propensities) -> NDArray[np.float64]:
        """The value of a curve at each row's position."""
        return propensities.at_positions(Positions(self.position, self.names))

    def by_position(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of values of the rows at each position, float64 (n_positions,)."""
        return np.bincount(self.position - 1, values, minlength=self.n_positions).astype(np.float64)

    def by_document(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of values of the rows of each document, float64 (n_documents,)."""
        return np.bincount(self.index, values, minlength=self.n_documents).astype(np.float64)


def checked_smoothing(smoothing: tuple[float, float]) -> tuple[float, float]:
    """A pair of numbers ≥ 0."""
    try:
        a, b = (float(part) for part in smoothing)
        if not (0 <= a < np.inf and 0 <= b < np.inf):
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(
            f"smoothing is {smoothing!r}: give two numbers ≥ 0, such as (1, 1): clicks, and looks without a click"
        ) from None
    return a, b
