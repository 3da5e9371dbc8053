"""The sets: every fold as the part that is seen, in training and validation queries, and the part that is tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from benchmarks.field.data import AT_HAND, SYNTHETIC, graded_only
from lambdaboost import Queries
from lambdaboost.datasets import Collection, web_search_log

REAL = tuple(name for name in AT_HAND if name != SYNTHETIC)
LOGS = {"log of 300": (300, 2), "log of 1,000": (1000, 2), "log of 10,000": (10_000, 1)}  # queries, folds
TEST, DOCUMENTS = 2000, 20
SETS = {**dict.fromkeys(REAL, 5), **{name: folds for name, (_, folds) in LOGS.items()}}  # numbers of folds


@dataclass(frozen=True, eq=False)
class Split:
    """A fold of a set."""

    train: Collection
    valid: Collection
    test: Collection

    @property
    def seen(self) -> Collection:
        """What is not tested."""
        return Collection.concat([self.train.without_ids(), self.valid.without_ids()])


def split_of(name: str, fold: int) -> Split:
    """A fold of a set; queries without a relevant document are left out."""
    return _log(*LOGS[name], fold) if name in LOGS else _real(name, fold)


def family(name: str) -> tuple[str, ...]:
    """The sets that are left out together."""
    return tuple(LOGS) if name in LOGS else (name,)


_read: Callable[[str], object] = cache(lambda name: AT_HAND[name](0))


def _real(name: str, fold: int) -> Split:
    data = _read(name)
    names = data.folds[fold]  # type: ignore[attr-defined]
    return Split(*(graded_only(data.joined(part)) for part in (names.train, names.valid, names.test)))  # type: ignore[attr-defined]


def _log(queries: int, _: int, fold: int) -> Split:
    log = web_search_log(queries + TEST, DOCUMENTS, seed=queries + fold)
    bare = Collection(log.features, Queries(log.queries.relevance, log.queries.sizes))
    cuts = (0, queries * 3 // 4, queries, queries + TEST)
    parts = (bare.take(np.arange(low, high)).shuffled(fold) for low, high in pairwise(cuts))
    return Split(*map(graded_only, parts))
