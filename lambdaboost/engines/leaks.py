"""Leaks: features that order the documents of a query almost as a label source does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._warn import warn
from lambdaboost.datasets import Queries
from lambdaboost.datasets._given import numbers

ROWS, OF_QUERY = 1000, 100  # the most rows examined for a source, and for one query
LEAST_QUERIES, LEAST_FREEDOM = 10, 50  # fewer queries, or fewer rows beyond one for each, may agree by chance
CORRELATION = 0.95
# A feature that correlates less than this on the first rows is not examined further.
SCREEN, SCREENED = 200, 0.7


@dataclass(frozen=True)
class Leak:
    """A feature and the label source whose order it follows: the rank correlation within `queries` queries."""

    feature: str
    source: str
    correlation: float
    queries: int


def leaks(X: Any, q: Queries, names: Sequence[str] | None = None) -> list[Leak]:
    """The features whose rank correlation with a label source within queries is at least 0.95 in absolute value.

    Spearman's correlation of average ranks, centred within each query and divided by its length, pooled over about
    1000 rows of random queries whose documents differ in the source. Features that are not numeric are skipped; so is
    an X that is not an array, CSR matrix or data frame.

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
        called = own_names
        if names is not None and len(names) == values.shape[1]:
            called = [f"feature {name!r}" for name in names]
        wanted = labels[rows][:, None]
        few = slice(0, int(np.searchsorted(query, query[min(SCREEN, rows.size) - 1], side="right")))
        near = np.flatnonzero(
            np.abs(_correlations(values[few], wanted[few], query[few])) >= SCREENED
        ).tolist()
        for column, correlation in zip(near, _correlations(values[:, near], wanted, query), strict=True):
            if abs(correlation) >= CORRELATION:
                found.append(Leak(called[column], source, round(float(correlation), 3), queries))
    return found


def warn_of_leaks(X: Any, q: Queries, names: Sequence[str] | None = None) -> None:
    """Warn of each leaking feature, with the remedy; see `leaks`."""
    for leak in leaks(X, q, names):
        warn(
            f"{leak.feature} orders the documents of a query as the label source {leak.source!r} does, rank "
            f"correlation {leak.correlation:.3f} over {leak.queries} queries. The model will learn the labels from "
            "it: drop it, unless it is known before a document is ranked"
        )


def _rows_that_differ(labels: NDArray[np.float32], q: Queries) -> NDArray[np.int64]:
    """Labelled rows of random queries with two different labels."""
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
    """Some rows of the numeric features, with NaN below all other values, and their names."""
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


def _correlations(
    values: NDArray[Any], labels: NDArray[Any], query: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Of each column of `values` with `labels`, shape (rows, 1); 0 for a column constant in every query."""
    ranks, wanted = _centred_ranks(values, query), _centred_ranks(labels, query)
    spread = np.sqrt((ranks * ranks).sum(axis=0) * (wanted * wanted).sum())
    return np.divide((ranks * wanted).sum(axis=0), spread, out=np.zeros(spread.size), where=spread > 0)


def _centred_ranks(values: NDArray[Any], query: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average rank within its query, in (−1/2, 1/2), of each value of each column; rows of a query are adjacent."""
    n, columns = values.shape
    order = np.argsort(values, axis=0, kind="stable")
    order = np.take_along_axis(order, np.argsort(query[order], axis=0, kind="stable"), axis=0)
    v, of = np.take_along_axis(values, order, axis=0), query[order]
    first = np.ones((n, columns), dtype=np.int64)
    first[1:] = (v[1:] != v[:-1]) | (of[1:] != of[:-1])
    group = np.cumsum(first.T).reshape(columns, n).T - 1  # ties, numbered across all columns
    place = np.bincount(group.ravel(), np.repeat(np.arange(n), columns)) / np.bincount(group.ravel())
    ranks = np.empty((n, columns))
    np.put_along_axis(ranks, order, place[group], axis=0)
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    sizes = np.diff(starts, append=n)
    mean = np.add.reduceat(ranks, starts, axis=0) / sizes[:, None]
    return (ranks - np.repeat(mean, sizes, axis=0)) / np.repeat(sizes, sizes)[:, None]
