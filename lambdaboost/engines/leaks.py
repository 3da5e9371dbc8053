"""Features that give the labels away: those that order the documents of a query almost as a label source does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._warn import warn
from lambdaboost.datasets import Queries
from lambdaboost.datasets._given import numbers

ROWS, OF_QUERY = 1000, 100  # rows looked at for each source, and of one query
LEAST_QUERIES, LEAST_FREEDOM = 10, 50  # fewer queries, or fewer rows beside one a query, may agree by chance
CORRELATION = 0.95


@dataclass(frozen=True)
class Leak:
    """A feature and the label source whose order it follows, with the rank correlation within so many queries."""

    feature: str
    source: str
    correlation: float
    queries: int


def leaks(X: Any, q: Queries, names: Sequence[str] | None = None) -> list[Leak]:
    """The features whose rank correlation with a label source within queries is at least 0.95 in absolute value.

    Spearman's correlation of average ranks, centred within each query and divided by its length, pooled over some 1000
    rows of queries, drawn at random, whose documents differ in the source. Features of X that are no numbers are passed
    over, and so is an X that is no array, CSR matrix or frame.

    >>> q = Queries(np.tile([0, 1, 2, 3, 4, 5], 20), sizes=[6] * 20)
    >>> leaks(np.column_stack([np.ones(120), -np.exp(q.relevance)]), q)
    [Leak(feature='feature 1 (counted from 0)', source='relevance', correlation=-1.0, queries=20)]
    """
    found = []
    for source, labels in q.labels.items():
        rows = _rows_that_differ(labels, q)
        query = q.query_of_row[rows] if rows.size else rows
        queries = np.unique(query).size
        if queries < LEAST_QUERIES or rows.size - queries < LEAST_FREEDOM:
            continue
        taken = _numbers(X, rows)
        if taken is None:
            return []
        values, own_names = taken
        wanted = _centred_ranks(labels[rows], query)
        for column, name in enumerate(
            names if names is not None and len(names) == values.shape[1] else own_names
        ):
            ranks = _centred_ranks(values[:, column], query)
            spread = np.sqrt((ranks @ ranks) * (wanted @ wanted))
            correlation = float(ranks @ wanted / spread) if spread > 0 else 0.0
            if abs(correlation) >= CORRELATION:
                found.append(Leak(name, source, round(correlation, 3), queries))
    return found


def warn_of_leaks(X: Any, q: Queries, names: Sequence[str] | None = None) -> None:
    """Warn of each feature that gives the labels away, with the remedy; see `leaks`."""
    for leak in leaks(X, q, names):
        warn(
            f"{leak.feature} orders the documents of a query as the label source {leak.source!r} does, rank "
            f"correlation {leak.correlation:.3f} over {leak.queries} queries. The model will learn the labels from "
            "it: drop it, unless it is known before a document is ranked"
        )


def _rows_that_differ(labels: NDArray[np.float32], q: Queries) -> NDArray[np.int64]:
    """Labelled rows of queries with two different labels, drawn at random."""
    starts = q.offsets[:-1]
    differ = np.flatnonzero(np.fmax.reduceat(labels, starts) > np.fmin.reduceat(labels, starts))
    rng = np.random.default_rng(0)
    rows: list[NDArray[np.int64]] = []
    total = 0
    for query in rng.permutation(differ):
        of_query = np.arange(*q.offsets[query : query + 2])
        of_query = of_query[~np.isnan(labels[of_query])]
        if of_query.size > OF_QUERY:
            of_query = np.sort(rng.choice(of_query, OF_QUERY, replace=False))
        rows.append(of_query)
        total += of_query.size
        if total >= ROWS:
            break
    return np.sort(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)


def _numbers(X: Any, rows: NDArray[np.int64]) -> tuple[NDArray[np.floating], list[str]] | None:
    """Some rows of the features that are numbers, NaN below all others, and what to call each."""
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        numeric = {str(name): X[name] for name in X.columns if _is_numeric(X[name].dtype)}
        if not numeric:
            return None
        taken = [
            column.iloc[rows] if hasattr(column, "iloc") else column[rows] for column in numeric.values()
        ]
        values = np.column_stack([numbers("X", column) for column in taken])
        return _nan_lowest(values), [f"feature {name!r}" for name in numeric]
    if getattr(X, "format", None) == "csr":
        values = X[rows].toarray()
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iufb":
        values = X[rows]
    else:
        return None
    return _nan_lowest(values), [f"feature {i} (counted from 0)" for i in range(values.shape[1])]


def _is_numeric(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) if hasattr(dtype, "is_numeric") else getattr(dtype, "kind", "O") in "iuf"


def _nan_lowest(values: NDArray[Any]) -> NDArray[np.floating]:
    return np.nan_to_num(values.astype(np.float64), nan=-np.inf, posinf=np.inf, neginf=-np.inf)


def _centred_ranks(values: NDArray[Any], query: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average rank of each row within its query, in (−1/2, 1/2); rows of a query are adjacent."""
    order = np.lexsort((values, query))
    v, of = values[order], query[order]
    group = np.cumsum(np.r_[True, (v[1:] != v[:-1]) | (of[1:] != of[:-1])]) - 1
    place = np.bincount(group, np.arange(v.size)) / np.bincount(group)
    ranks = np.empty(v.size)
    ranks[order] = place[group]
    _, index, sizes = np.unique(query, return_inverse=True, return_counts=True)
    return (ranks - (np.bincount(index, ranks) / sizes)[index]) / sizes[index]
