"""`matrix_of`: `Shards` as an XGBoost matrix of bins, filled batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import xgboost as xgb

from lambdaboost.datasets import Collection
from lambdaboost.datasets.columns import query_weights
from lambdaboost.datasets.shards import Shards
from lambdaboost.engines.engine import carried
from lambdaboost.xgboost.data import QuantileDMatrix


class ShardBatches(xgb.DataIter):
    """The batches of `Shards`, which XGBoost reads about four times; `names` gives the names of a frame's columns."""

    def __init__(self, shards: Shards, names: str) -> None:
        super().__init__()
        self.shards, self.names = shards, names
        self.reset()

    def reset(self) -> None:
        """Begin a pass."""
        self.batches: Iterator[Collection] = iter(self.shards)

    def next(self, input_data: Callable[..., None]) -> bool:
        """Pass a batch on; False after the last one."""
        if (part := next(self.batches, None)) is None:
            return False
        input_data(data=part.table(self.names), **carried(part))
        return True


def matrix_of(
    shards: Shards, names: str, reference: Any = None, max_bin: int | None = None
) -> QuantileDMatrix:
    """The matrix with its label sources and positions; `reference` is that of the training data.

    XGBoost makes the bins here, and refuses a training with another `max_bin`.
    """
    q = shards.queries
    if q.weight is not None:
        query_weights("weight", q.weight, q.sizes, q.n_documents)  # here, where rows are not those of a batch
    batches = ShardBatches(shards, names)
    data = QuantileDMatrix(batches, ref=reference, max_bin=max_bin, enable_categorical=True)
    if shards.categories:
        data.feature_names = None  # as of the array, so that arrays of codes are scored too
    data.shards = shards
    return data
