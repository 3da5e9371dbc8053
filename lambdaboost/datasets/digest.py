"""Digests that identify data: of queries with their labels, and of whole data sets."""

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


def digest_of(parts: Iterable[Collection | None]) -> str:
    """SHA-256 of the features, labels, queries, weights and positions of data sets, in hex."""
    total = hashlib.sha256()
    for part in parts:
        if part is None:
            continue
        for column in float_columns(part.features):
            total.update(column.tobytes())
        q = part.queries
        total.update(f"{part.features.shape}".encode())
        total.update(digest_of_queries(q).encode())
        if q.weight is not None:
            total.update(b"weight" + q.weight.tobytes())
        if q.positions is not None:
            total.update(f"position {q.position_names}".encode() + q.positions.codes.tobytes())
    return total.hexdigest()


def float_columns(features: Any) -> Iterable[NDArray[np.float64]]:
    """The columns, as contiguous float64; zeros are positive and NaN are one NaN."""
    by_column = features if isinstance(features, np.ndarray) else features.tocsc()
    for at in range(features.shape[1]):
        column = by_column[:, [at]]
        column = column if isinstance(column, np.ndarray) else column.toarray()
        column = np.ascontiguousarray(column.ravel(), dtype=np.float64) + 0.0
        column[np.isnan(column)] = np.nan
        yield column
