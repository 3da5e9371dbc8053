"""Folds for cross-validation that keep every query whole, the same on both engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost.calls.data import queries_of
from lambdaboost.datasets.columns import whole_queries
from lambdaboost.datasets.queries import RELEVANCE, Queries

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


def folds_of(data: Any, nfold: int, seed: int, folds: Any) -> Iterator[Fold]:
    """Training and validation rows of whole queries: of `folds` if given, else of `nfold` random folds.

    The queries are read when the first fold is asked for, since LightGBM constructs a data set only then.
    """
    q = queries_of(data)
    yield from drawn(q, nfold, seed) if folds is None else checked(folds, q)


def drawn(q: Queries, nfold: int, seed: int) -> Iterator[Fold]:
    """Random folds whose numbers of queries differ by at most one; rows ascend."""
    check_whole("nfold", nfold, 2)
    if q.n_queries < nfold:
        raise ValueError(f"nfold is {nfold}, but there are {q.n_queries} queries: each fold needs one")
    fold = (np.random.default_rng(seed).permutation(q.n_queries) % nfold)[q.query_of_row]
    return ((np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(nfold))


def checked(folds: Any, q: Queries) -> Iterator[Fold]:
    """The folds of a list, or of a scikit-learn splitter, whose groups are the queries; rows ascend.

    Raises
    ------
    TypeError, ValueError
        If `folds` is neither, or a fold splits a query, repeats a row, or has one that does not exist.

    """
    if hasattr(folds, "split"):
        folds = folds.split(np.zeros((q.n_documents, 1)), np.nan_to_num(q.labels[RELEVANCE]), q.query_of_row)
    if not isinstance(folds, Iterable):
        raise TypeError(
            f"folds is {folds!r}, expected a list of (train rows, test rows) or a splitter such as GroupKFold(5)"
        )
    for number, (train, test) in enumerate(folds):
        yield _whole(f"folds[{number}] (train)", train, q), _whole(f"folds[{number}] (test)", test, q)


def _whole(name: str, rows: Any, q: Queries) -> NDArray[np.int64]:
    chosen = np.sort(np.asarray(rows, dtype=np.int64))  # so that the rows of a query stay adjacent
    if chosen.size and not (chosen[0] >= 0 and chosen[-1] < q.n_documents):
        raise ValueError(
            f"{name} has rows {chosen[0]} to {chosen[-1]}, data has rows 0 to {q.n_documents - 1}"
        )
    whole_queries(name, chosen, q.offsets)
    return chosen
