"""The parts that a search trains and measures on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.tuning.contents import query_contents
from lambdaboost.tuning.task import Fold


def given_parts(train: Collection, valid: Collection, seed: int) -> tuple[Fold, ...]:
    """One fold: the given parts, the documents of each query in random order, for files are often sorted by grade."""
    return (Fold(train.shuffled(seed), valid.shuffled(seed), np.arange(valid.queries.n_queries)),)


def drawn_folds(data: Collection, folds: int, seed: int) -> tuple[Fold, ...]:
    """Random folds of whole queries; equal queries are in one fold."""
    data = data.shuffled(seed)
    fold = fold_of_query(data, folds, seed)
    return tuple(
        Fold(data.take(fold != at), data.take(fold == at), np.flatnonzero(fold == at)) for at in range(folds)
    )


def fold_of_query(data: Collection, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each query, by scikit-learn's GroupKFold over different queries, in random order."""
    from sklearn.model_selection import GroupKFold  # which takes a second to import

    content = np.unique(query_contents(data), return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(content.max() + 1)
    fold = np.empty(content.size, dtype=np.int64)
    groups = order[content]
    for at, (_, test) in enumerate(GroupKFold(folds).split(groups, groups=groups)):
        fold[test] = at
    return fold


def joined(train: Collection, valid: Collection | None = None) -> Collection:
    """Both parts as one, without the names of queries, which both may use."""
    if valid is None:
        return train
    return Collection.concat([train.without_ids(), valid.without_ids()])
