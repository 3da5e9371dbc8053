"""`Data`: the parts and folds of a data set."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from experiments.common.clicks import Clicks
from experiments.common.report import table
from lambdaboost import Queries
from lambdaboost.datasets import Collection


@dataclass(frozen=True)
class Fold:
    """Names of the training, validation and test parts."""

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
        """Concatenate parts."""
        return Collection.concat([self.parts[name] for name in names])

    def training(self, fold: Fold, share: float = 1.0, seed: int = 0) -> Collection:
        """The training data of a fold: queries with a relevant document, or a share of them."""
        whole = self.joined(fold.train)
        kept = np.flatnonzero(has_any(whole.queries.relevance, whole.queries))
        if not kept.size:
            raise ValueError(
                f"no training query of {fold.name} has a relevant document: there is nothing to learn"
            )
        return whole.take(kept[nested_queries(kept.size, share, seed)])

    def training_valid_test(self, fold: Fold) -> tuple[Collection, Collection, Collection]:
        """The three parts of a fold."""
        return self.training(fold), self.joined(fold.valid), self.joined(fold.test)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all data used in training and testing."""
        total = hashlib.sha256()
        for name, (x, q) in self.parts.items():
            total.update(name.encode())
            arrays = [x] if isinstance(x, np.ndarray) else [x.data, x.indices, x.indptr]
            for array in (*arrays, q.offsets, *q.labels.values()):
                total.update(f"{array.dtype}{array.shape}".encode())
                total.update(np.ascontiguousarray(array).tobytes())
            total.update(" ".join(q.labels).encode())
        return total.hexdigest()

    def markdown(self) -> str:
        """The section of a report that describes the data."""
        lines = [f"- {self.origin}.", f"- SHA-256 of features, labels and queries as used: `{self.digest}`."]
        lines += [f"- Click labels {clicks.name}: {clicks.described}." for clicks in self.clicks]
        highest = max(int(np.nanmax(part.queries.relevance)) for part in self.parts.values())
        names = [clicks.name for clicks in self.clicks]
        header = ["Part", "Queries", "without relevant", "Documents", "Features"]
        header += [f"grade {grade}" for grade in range(highest + 1)]
        header += [f"{name} > 0" for name in names] + [f"queries without {name}" for name in names]
        rows = []
        for name, part in self.parts.items():
            q = part.queries
            clicked = [q.labels[source] for source in names]
            counts = [q.n_queries, int((~has_any(q.relevance, q)).sum()), q.n_documents, part.n_features]
            counts += [int((q.relevance == grade).sum()) for grade in range(highest + 1)]
            counts += [int((labels > 0).sum()) for labels in clicked]
            counts += [int((~has_any(labels, q)).sum()) for labels in clicked]
            rows.append([name, *(f"{count:,}" for count in counts)])
        folds = "; ".join(
            f"{fold.name}: training on {' + '.join(fold.train)}, validation on {' + '.join(fold.valid)}, "
            f"test on {' + '.join(fold.test)}"
            for fold in self.folds
        )
        return "\n".join(lines) + "\n\n" + table(header, rows, f"Folds. {folds}.")


def one_fold(
    whole: Collection, shares: Sequence[float], seed: int, origin: str, clicks: tuple[Clicks, ...] = ()
) -> Data:
    """Split synthetic data into one fold of training, validation and test parts."""
    names = ("train", "vali", "test")
    cuts = np.rint(whole.queries.n_queries * np.cumsum((0, *shares))).astype(int)
    parts = {
        name: whole.take(np.arange(first, last)).shuffled(seed)
        for name, first, last in zip(names, cuts, cuts[1:], strict=False)
    }
    return Data("synthetic", parts, (Fold("the one fold", *((name,) for name in names)),), clicks, origin)


def nested_queries(n_queries: int, share: float, seed: int = 0) -> NDArray[np.int64]:
    """Indices of a share of the queries, ascending; a larger share contains every smaller one.

    >>> [nested_queries(8, share).size for share in (0.25, 1.0)]
    [2, 8]
    """
    drawn = np.random.default_rng(seed).permutation(n_queries)
    return np.sort(drawn[: max(1, round(share * n_queries))])


def has_any(labels: NDArray[np.float32], q: Queries) -> NDArray[np.bool_]:
    """Whether each query has a document labelled above 0, bool (n_queries,)."""
    return np.maximum.reduceat(np.nan_to_num(labels), q.offsets[:-1]) > 0


def dense(features: object) -> NDArray[np.float64]:
    """Features as a float64 array, sparse or not."""
    whole = features if isinstance(features, np.ndarray) else features.toarray()  # type: ignore[attr-defined]
    return np.asarray(whole, dtype=np.float64)
