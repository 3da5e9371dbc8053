"""Digests that identify data: of all queries with their labels, and of each query with its documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries


def digest_of_queries(q: Queries) -> str:
    """SHA-256 of the query offsets and every label source, in hex."""
    total = hashlib.sha256(q.offsets.astype("<i8").tobytes())
    for name, labels in q.labels.items():
        total.update(name.encode())
        total.update(labels.astype("<f4").tobytes())
    return total.hexdigest()


def hash_queries(data: Collection) -> NDArray[np.uint64]:
    """A number for each query, the same for queries whose documents have the same features and labels in any order.

    Two different queries share one with a chance of 2⁻⁶⁴.

    >>> from lambdaboost.datasets import Queries
    >>> X = np.array([[1.0, 2], [3, 4], [3, 4], [1, 2], [3, 4], [1, 5]])
    >>> a, b, c = hash_queries(Collection(X, Queries([0, 1, 1, 0, 1, 0], sizes=[2, 2, 2])))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    from pandas.util import hash_array

    q = data.queries
    rows = np.zeros(q.n_documents, dtype=np.uint64)
    labels = (values.astype(np.float64) for values in q.labels.values())
    for column in [*float_columns(data.features), *labels]:
        rows = hash_array(rows + hash_array(column))
    return np.add.reduceat(rows, q.offsets[:-1])


def float_columns(features: Any) -> Iterable[NDArray[np.float64]]:
    """The columns, as contiguous float64; zeros are positive and NaN are one NaN."""
    by_column = features if isinstance(features, np.ndarray) else features.tocsc()
    for at in range(features.shape[1]):
        column = by_column[:, [at]]
        column = column if isinstance(column, np.ndarray) else column.toarray()
        column = np.ascontiguousarray(column.ravel(), dtype=np.float64) + 0.0
        column[np.isnan(column)] = np.nan
        yield column
