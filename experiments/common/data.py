"""`Data`: the parts of a data set and the folds that are made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection, Queries
from lambdaboost.diagnostics import nested_queries
from lambdaboost.reproduce.clicks import Clicks


@dataclass(frozen=True)
class Fold:
    """Names of the parts that are trained, validated and tested on."""

    name: str
    train: tuple[str, ...]
    valid: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Data:
    """Parts by name, their rows shuffled inside each query, the folds, and the click settings."""

    name: str
    parts: dict[str, Collection]
    folds: tuple[Fold, ...]
    clicks: tuple[Clicks, ...]
    origin: str

    def joined(self, names: Sequence[str]) -> Collection:
        """Some parts one after the other."""
        return Collection.concat([self.parts[name] for name in names])

    def training(self, fold: Fold, share: float = 1.0, seed: int = 0) -> Collection:
        """What a fold trains on: queries with a relevant document, or a share of them."""
        whole = self.joined(fold.train)
        kept = np.flatnonzero(has_any(whole.queries.relevance, whole.queries))
        if not kept.size:
            raise ValueError(
                f"no training query of {fold.name} has a relevant document: there is nothing to learn"
            )
        return whole.take(kept[nested_queries(kept.size, [share], seed)[0]])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything in it that training and testing see."""
        total = hashlib.sha256()
        for name, part in self.parts.items():
            total.update(name.encode())
            x, q = part
            arrays = [x] if isinstance(x, np.ndarray) else [x.data, x.indices, x.indptr]
            for array in (*arrays, q.offsets, *q.labels.values()):
                total.update(f"{array.dtype}{array.shape}".encode())
                total.update(np.ascontiguousarray(array).tobytes())
            total.update(" ".join(q.labels).encode())
        return total.hexdigest()


def has_any(labels: NDArray[np.float32], q: Queries) -> NDArray[np.bool_]:
    """Which queries have a document labelled above 0, bool (n_queries,)."""
    return np.maximum.reduceat(np.nan_to_num(labels), q.offsets[:-1]) > 0
