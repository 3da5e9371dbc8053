"""The parts that a search trains and measures on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection, Queries
from lambdaboost.datasets._concat import row_ids
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.tuning.contents import query_contents
from lambdaboost.tuning.task import Fold


def given_parts(train: Collection, valid: Collection, seed: int) -> tuple[Fold, ...]:
    """One fold: the given parts, the documents of each query in random order, for files are often sorted by grade."""
    return (Fold(train.shuffled(seed), valid.shuffled(seed), np.arange(valid.queries.n_queries)),)


def drawn_folds(data: Collection, folds: int, seed: int) -> tuple[Fold, ...]:
    """Random folds of whole queries; queries of the same content are in one fold."""
    data = data.shuffled(seed)
    fold = fold_of_query(data, folds, seed)
    return tuple(
        Fold(data.take(fold != at), data.take(fold == at), np.flatnonzero(fold == at)) for at in range(folds)
    )


def fold_of_query(data: Collection, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each query, by scikit-learn's GroupKFold over queries of the same content, in random order."""
    from sklearn.model_selection import GroupKFold  # which takes a second to import

    content = np.unique(query_contents(data), return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(content.max() + 1)
    fold = np.empty(content.size, dtype=np.int64)
    groups = order[content]
    for at, (_, test) in enumerate(GroupKFold(folds).split(groups, groups=groups)):
        fold[test] = at
    return fold


def without_positions(data: Collection) -> Collection:
    """The same data without positions, which nothing reads."""
    q = data.queries
    if q.positions is None:
        return data
    return replace(data, queries=_queries(q, row_ids(q), None))


def joined(train: Collection, valid: Collection | None = None) -> Collection:
    """Both parts as one, without the names of queries, which both may use."""
    if valid is None:
        return train
    return Collection.concat([without_ids(train), without_ids(valid)])


def without_ids(data: Collection) -> Collection:
    """The same data without the names of its queries, which two parts may share."""
    return replace(data, queries=_queries(data.queries, None, data.queries.positions))


def _queries(q: Queries, ids: Any, positions: Positions | None) -> Queries:
    """The same queries with other names and positions."""
    labels = dict(q.labels)
    grades = labels.pop(RELEVANCE)
    sizes = q.sizes if ids is None else None
    return Queries(grades, sizes, ids=ids, weight=q.weight, position=positions, **labels)
