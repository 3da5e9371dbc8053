"""`ShardRows`: the features of `Shards` as a `lightgbm.Sequence`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.datasets.folder import VALUES
from lambdaboost.datasets.shards import Shards


class ShardRows(lgb.Sequence):
    """Rows read forwards in batches, of which one is held; a row before it begins a new pass.

    LightGBM asks in ascending order: once for a sample, once for all rows.
    """

    def __init__(self, shards: Shards) -> None:
        self.shards = shards
        self.batch_size = max(1, VALUES // shards.n_features)
        self._begin()

    def __len__(self) -> int:
        return self.shards.queries.n_documents

    def __getitem__(self, at: Any) -> Any:
        """A row, or the rows of a slice."""
        if isinstance(at, slice):
            return self._rows(np.arange(*at.indices(len(self))))
        return self._rows(np.array([at]))[0]

    def _begin(self) -> None:
        self.batches: Iterator[Collection] = iter(self.shards)
        self.held: NDArray[Any] = np.zeros((0, self.shards.n_features))
        self.first = 0

    def _rows(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        if rows.size and rows[0] < self.first:
            self._begin()
        found = []
        while rows.size:
            here = rows < self.first + len(self.held)
            found.append(self.held[rows[here] - self.first])
            rows = rows[~here]
            if rows.size:
                self.first += len(self.held)
                held = next(self.batches).features
                self.held = held if isinstance(held, np.ndarray) else held.toarray()
        return np.concatenate(found)
