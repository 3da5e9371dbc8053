"""Five folds of any data set: LETOR's own, or five random parts of the queries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from experiments.common.data import Data, has_any
from lambdaboost.datasets import Collection

FOLDS = 5


def five_folds(data: Data, seed: int) -> Iterator[tuple[Collection, Collection]]:
    """Training and test queries of each fold, training ones with a relevant document; validation parts train too."""
    if len(data.folds) == FOLDS:
        for fold in data.folds:
            yield _graded(data.joined(fold.train + fold.valid)), data.joined(fold.test)
        return
    whole = data.joined(tuple(data.parts))
    part = np.random.default_rng(seed).permutation(whole.queries.n_queries) % FOLDS
    for tested in range(FOLDS):
        yield _graded(whole.take(np.flatnonzero(part != tested))), whole.take(np.flatnonzero(part == tested))


def _graded(collection: Collection) -> Collection:
    q = collection.queries
    return collection.take(np.flatnonzero(has_any(q.relevance, q)))
