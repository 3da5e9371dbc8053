"""What identifies data: a digest of queries with their labels, and the numbers of features."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.queries import Queries


def digest_of_queries(q: Queries) -> str:
    """SHA-256 of the query offsets and every label source, in hex."""
    total = hashlib.sha256(q.offsets.astype("<i8").tobytes())
    for name, labels in q.labels.items():
        total.update(name.encode())
        total.update(labels.astype("<f4").tobytes())
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
