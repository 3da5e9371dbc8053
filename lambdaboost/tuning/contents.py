"""Hashes of queries, to find equal ones, and of data sets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection

Words = NDArray[np.uint64]


def query_contents(data: Collection) -> Words:
    """A number for each query, the same for queries whose documents have the same features and labels in any order.

    Two different queries share one with a chance of 2⁻⁶⁴.

    >>> from lambdaboost.datasets import Queries
    >>> X = np.array([[1.0, 2], [3, 4], [3, 4], [1, 2], [3, 4], [1, 5]])
    >>> a, b, c = query_contents(Collection(X, Queries([0, 1, 1, 0, 1, 0], sizes=[2, 2, 2])))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    q = data.queries
    columns = [*_columns(data.features), *(labels.astype(np.float64) for labels in q.labels.values())]
    rng = np.random.default_rng(0)
    rows = np.zeros(q.n_documents, dtype=np.uint64)
    for column in columns:
        # Odd, or the sign, which is the highest bit, would be lost.
        factor = rng.integers(0, 2**64 - 1, dtype=np.uint64, endpoint=True) | np.uint64(1)
        rows += _mixed(column.view(np.uint64) * factor)
    return np.add.reduceat(_mixed(rows), q.offsets[:-1])


def digest_of(parts: Iterable[Collection | None]) -> str:
    """SHA-256 of the features, labels, queries, weights and positions of data sets, in hex."""
    total = hashlib.sha256()
    for part in parts:
        if part is None:
            continue
        for column in _columns(part.features):
            total.update(column.tobytes())
        q = part.queries
        total.update(f"{part.features.shape}".encode())
        total.update(q.offsets.astype("<i8").tobytes())
        for name, labels in q.labels.items():
            total.update(name.encode())
            total.update(labels.astype("<f4").tobytes())
        if q.weight is not None:
            total.update(b"weight" + q.weight.tobytes())
        if q.positions is not None:
            total.update(f"position {q.position_names}".encode() + q.positions.codes.tobytes())
    return total.hexdigest()


def _columns(features: Any) -> Iterable[NDArray[np.float64]]:
    """The columns, as contiguous float64; zeros are positive and NaN are one NaN."""
    by_column = features if isinstance(features, np.ndarray) else features.tocsc()
    for at in range(features.shape[1]):
        column = by_column[:, [at]]
        column = column if isinstance(column, np.ndarray) else column.toarray()
        column = np.ascontiguousarray(column.ravel(), dtype=np.float64) + 0.0
        column[np.isnan(column)] = np.nan
        yield column


def _mixed(words: Words) -> Words:
    """The words with every bit spread over all others (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
