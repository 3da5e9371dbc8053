"""`Fold`: the parts that a search trains and measures on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection


@dataclass(frozen=True, eq=False)
class Fold:
    """A training and a validation part; `queries` are the places of the latter's queries among all measured ones."""

    train: Collection
    valid: Collection
    queries: NDArray[np.int64]


def draw_folds(data: Collection, folds: int, seed: int) -> tuple[Fold, ...]:
    """Random folds of whole queries; equal queries are in one fold."""
    data = data.shuffled(seed)
    fold = fold_of_query(data, folds, seed)
    return tuple(
        Fold(data.take(fold != at), data.take(fold == at), np.flatnonzero(fold == at)) for at in range(folds)
    )


def fold_of_query(data: Collection, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each query, by scikit-learn's GroupKFold over different queries, in random order."""
    from sklearn.model_selection import GroupKFold  # which takes a second to import

    content = np.unique(hash_queries(data), return_inverse=True)[1]
    groups = np.random.default_rng(seed).permutation(content.max() + 1)[content]
    fold = np.empty(content.size, dtype=np.int64)
    for at, (_, test) in enumerate(GroupKFold(folds).split(groups, groups=groups)):
        fold[test] = at
    return fold


def hash_queries(data: Collection) -> NDArray[np.uint64]:
    """A number for each query, the same for queries whose documents have the same features and labels in any order.

    Two different queries share one with a chance of 2⁻⁶⁴.

    >>> from lambdaboost import Queries
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
