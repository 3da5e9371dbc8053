"""`Shards`: the features of a folder, read in batches of whole queries, and the queries of all its documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.categories import Categories
from lambdaboost.datasets.collection import Collection, stacked
from lambdaboost.datasets.folder import Folder
from lambdaboost.datasets.queries import Queries


@dataclass(frozen=True, eq=False, repr=False)
class Shards:
    """The features of a folder, which each pass reads anew as `Collection` of whole queries, and its queries.

    Attributes
    ----------
    folder : Folder
    reader : object
        Its method ``matrix(file)`` returns the features of some rows.
    queries : Queries
        All documents, in the order of the passes.
    feature_names, categories
        As of `Collection`.
    seed : int, or None
        The seed by which the documents of each query are shuffled.

    """

    folder: Folder
    reader: Any
    queries: Queries
    feature_names: tuple[str, ...]
    categories: Categories
    seed: int | None = None

    def __repr__(self) -> str:
        q, n = self.queries, len(self.folder.files)
        return (
            f"Shards({q.n_documents} documents × {self.n_features} features in {q.n_queries} queries; {q.columns}; "
            f"{n} files of {self.folder.path})"
        )

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.feature_names)

    def shuffled(self, seed: int = 0) -> Shards:
        """Shuffle the documents inside each query, as `Collection.shuffled` does."""
        return replace(self, queries=self.queries.reordered(self.queries.shuffled_rows(seed)), seed=seed)

    def without_positions(self) -> Shards:
        """The same data without positions."""
        return replace(self, queries=self.queries.with_positions(None))

    def rows(self, rows: NDArray[np.int64]) -> Any:
        """The features of some rows in ascending order, in one pass."""
        found, first = [], 0
        for part in self:
            last = first + part.queries.n_documents
            found.append(part.features[rows[(first <= rows) & (rows < last)] - first])
            first = last
        return stacked(found)

    def __iter__(self) -> Iterator[Collection]:
        """One pass: every batch with the queries that end in it."""
        offsets, first, rest = self.queries.offsets, 0, None
        rng = None if self.seed is None else np.random.default_rng(self.seed)
        for piece in self.folder.pieces(None if self.folder.letor else self.feature_names):
            features = self.reader.matrix(piece)
            rest = features if rest is None else stacked([rest, features])
            stop = int(np.searchsorted(offsets, offsets[first] + rest.shape[0], side="right")) - 1
            if stop > first:
                q, n = self.queries.take(np.arange(first, stop)), offsets[stop] - offsets[first]
                # The numbers of one generator are those that all rows at once would take.
                rows = slice(0, n) if rng is None else q.shuffled_rows(rng)
                yield Collection(rest[rows], q, None, self.feature_names, self.categories)
                rest, first = rest[n:].copy(), stop


def batches(data: Collection | Shards) -> Iterable[Collection]:
    """The parts of data in memory, which is one, or those of one pass over a folder."""
    return data if isinstance(data, Shards) else [data]
