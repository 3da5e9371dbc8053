"""`Fold`: the parts that a search trains and measures on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.datasets.digest import hash_queries


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
