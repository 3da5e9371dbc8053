"""Folds for cross-validation that keep every query whole, the same on both engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets._checks import check_count
from lambdaboost.datasets.engines import queries_of

Rows = NDArray[np.int64]
Fold = tuple[Rows, Rows]


class WholeQueries:
    """A splitter that keeps queries whole: by `folds` if given, else `nfold` random folds; the same in every call."""

    def __init__(self, data: Any, nfold: int, seed: int, folds: Any) -> None:
        if folds is None:
            check_count("nfold", nfold, 2)
        self.data, self.nfold, self.seed, self.folds = data, nfold, seed, folds
        self._split: list[Fold] | None = None

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[Fold]:
        """Training and validation rows of each fold; the data must have queries."""
        if self._split is None:
            query = queries_of(self.data).query_of_row
            of_seed = self.folds is None
            self._split = list(
                drawn(query, self.nfold, self.seed) if of_seed else checked(self.folds, X, y, query)
            )
        return iter(self._split)


def drawn(query: Rows, nfold: int, seed: int) -> Iterator[Fold]:
    """Random folds whose numbers of queries differ by at most one.

    Parameters
    ----------
    query : int64 (n_documents,)
        The query of each row, counted from 0, the rows of a query adjacent.
    nfold, seed : int
        The number of folds, and the seed of the draw.

    Yields
    ------
    train, test : int64
        Rows, ascending.

    Raises
    ------
    TypeError, ValueError
        If `nfold` is not a whole number from 2 to the number of queries.

    """
    check_count("nfold", nfold, 2)
    n_queries = int(query[-1]) + 1
    if n_queries < nfold:
        raise ValueError(f"nfold is {nfold}, but there are {n_queries} queries: each fold needs one")
    fold = (np.random.default_rng(seed).permutation(n_queries) % nfold)[query]
    return ((np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(nfold))


def checked(folds: Any, X: Any, y: Any, query: Rows) -> Iterator[Fold]:
    """The folds of a list, or of a scikit-learn splitter, whose groups are the queries.

    Rows are sorted, so that those of a query stay adjacent.

    Raises
    ------
    TypeError, ValueError
        If `folds` is neither, or a fold splits a query, repeats a row, or has one that does not exist.

    """
    if hasattr(folds, "split"):
        folds = folds.split(X, y, query)
    if not isinstance(folds, Iterable):
        raise TypeError(
            f"folds is {folds!r}, expected a list of (train rows, test rows) or a splitter such as GroupKFold(5)"
        )
    return _whole(folds, query)


def _whole(folds: Iterable[Any], query: Rows) -> Iterator[Fold]:
    size = np.bincount(query)
    for number, (train, test) in enumerate(folds):
        yield (
            _checked(f"folds[{number}] (train)", train, query, size),
            _checked(f"folds[{number}] (test)", test, query, size),
        )


def _checked(name: str, rows: Any, query: Rows, size: Rows) -> Rows:
    chosen = np.sort(np.asarray(rows, dtype=np.int64))
    if chosen.size and not (chosen[0] >= 0 and chosen[-1] < query.size):
        raise ValueError(f"{name} has rows {chosen[0]} to {chosen[-1]}, data has rows 0 to {query.size - 1}")
    if (chosen[1:] == chosen[:-1]).any():
        raise ValueError(f"{name} has a row twice: take each row once")
    taken = np.bincount(query[chosen], minlength=size.size)
    split = np.flatnonzero((taken > 0) & (taken != size))
    if split.size:
        q = int(split[0])
        start, end = np.searchsorted(query, [q, q + 1])
        raise ValueError(
            f"{name} has {taken[q]} of the {size[q]} rows of query {q} (rows {start} to {end - 1}): "
            "keep every query whole, as GroupKFold does"
        )
    return chosen
