"""Hashes of queries, to find duplicates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.datasets.digest import float_columns

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
    columns = [*float_columns(data.features), *(labels.astype(np.float64) for labels in q.labels.values())]
    rng = np.random.default_rng(0)
    rows = np.zeros(q.n_documents, dtype=np.uint64)
    for column in columns:
        # Odd, or the sign, which is the highest bit, would be lost.
        factor = rng.integers(0, 2**64 - 1, dtype=np.uint64, endpoint=True) | np.uint64(1)
        rows += _mixed(column.view(np.uint64) * factor)
    return np.add.reduceat(_mixed(rows), q.offsets[:-1])


def _mixed(words: Words) -> Words:
    """The words with every bit spread over all others (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
