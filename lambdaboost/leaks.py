"""Leaks: features that order the documents of a query almost as a label source does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._warn import warn
from lambdaboost._words import shown
from lambdaboost.datasets import Queries
from lambdaboost.datasets.arrays import numbers
from lambdaboost.datasets.tables import as_frame

ROWS, OF_QUERY = 10_000, 100  # the most rows examined for a source, and for one query
LEAST_QUERIES, LEAST_FREEDOM = 10, 50  # fewer queries, or fewer rows beyond one for each, may agree by chance
CORRELATION = 0.95
GRADES = 10  # sources with more labels are examined by their order alone
# A feature that correlates less than this on the first rows is not examined further.
SCREEN, SCREENED = 1000, 0.3
# A feature of two values that all documents with the higher label have, and few others: "clicked" where "booked" is
# learnt.
HAVE, OTHERS_HAVE = 0.99, 0.2


@dataclass(frozen=True)
class Leak:
    """A feature that tells a label source, or which documents have one of its labels or a higher one."""

    feature: str
    source: str
    correlation: float  # of ranks within queries
    queries: int  # that were examined
    least: float | None = None  # the label, if it tells that alone
    others: float | None = (
        None  # of a feature that all documents with this label have, the share of others with it
    )

    def __str__(self) -> str:
        seen = f"rank correlation {self.correlation:.3f} over {self.queries} queries"
        if self.least is None:
            return f"{self.feature} orders the documents of a query as the label source {self.source!r} does, {seen}"
        at_least = f"a label {self.source!r} of {self.least:g} or more"
        if self.others is None:
            return f"{self.feature} tells which documents of a query have {at_least}, {seen}"
        return (
            f"{self.feature} is there for all documents with {at_least} and "
            f"for {self.others:.1%} of the others, {seen}"
        )


def leaks(X: Any, q: Queries, names: Sequence[str] | None = None) -> list[Leak]:
    """The features that tell a label source: its order, or which documents have a label of at least some grade.

    Spearman's correlation of average ranks, centred within each query and divided by its length, pooled over about
    10,000 rows of random queries whose documents differ in what is told, is at least 0.95 in absolute value; or the
    feature has two values, one of which all documents with the label have, and few others. Each grade is asked for by
    itself, over the queries that have it: few queries have a booking. Features that are not numeric are skipped; so is
    an X that is not an array, CSR matrix or data frame.

    >>> q = Queries(np.tile([0, 1, 2, 3, 4, 5], 20), sizes=[6] * 20)
    >>> leaks(np.column_stack([np.ones(120), -np.exp(q.relevance)]), q)[0].correlation
    -1.0
    """
    found: dict[tuple[str, str], Leak] = {}
    for source, labels in q.labels.items():
        levels = np.unique(labels[~np.isnan(labels)])
        orders: list[tuple[float | None, Any]] = [(None, labels)] if levels.size != 2 else []
        if levels.size <= GRADES:
            orders += [(float(least), _at_least(labels, least)) for least in levels[:0:-1]]
        for least, wanted in orders:
            for leak in _leaks(X, q, source, wanted, least, names):
                found.setdefault((leak.feature, source), leak)
    return list(found.values())


def warn_of_leaks(X: Any, q: Queries, names: Sequence[str] | None = None) -> None:
    """Warn of each leaking feature, with the remedy."""
    for leak in leaks(X, q, names):
        warn(
            f"{leak}. The model will learn the labels from it: drop it, unless it is known before a document is ranked"
        )


def _at_least(labels: NDArray[np.float32], least: Any) -> NDArray[np.float32]:
    """1 for labels of at least `least`, 0 for lower ones; NaN stays."""
    return np.where(np.isnan(labels), labels, (labels >= least).astype(np.float32))


def _leaks(
    X: Any, q: Queries, source: str, labels: NDArray[np.float32], least: float | None, names: Any
) -> Iterator[Leak]:
    """The features that tell `labels`, which a source has, or which say where it is at least `least`."""
    rows = _rows_that_differ(labels, q)
    query = q.query_of_row[rows] if rows.size else rows
    queries = np.unique(query).size
    if queries < LEAST_QUERIES or rows.size - queries < LEAST_FREEDOM or (taken := _numbers(X, rows)) is None:
        return
    values, called = taken
    if names is not None and len(names) == values.shape[1]:
        called = [f"feature {shown(name)}" for name in names]
    wanted = labels[rows][:, None]
    few = slice(0, int(np.searchsorted(query, query[min(SCREEN, rows.size) - 1], side="right")))
    first = np.abs(_correlations(values[few], wanted[few], query[few]))
    near = np.flatnonzero(first >= SCREENED).tolist()
    for column, correlation in zip(near, _correlations(values[:, near], wanted, query), strict=True):
        close = abs(correlation) >= CORRELATION
        others = None if close or least is None else _others_with(values[:, column], wanted[:, 0])
        if close or others is not None:
            yield Leak(called[column], source, round(float(correlation), 3), queries, least, others)


def _others_with(values: NDArray[np.floating], labels: NDArray[np.float32]) -> float | None:
    """The share of documents with the lower label that have the feature; None if it is no superset of the label."""
    if np.unique(values[:SCREEN]).size > 2 or np.unique(values).size != 2:
        return None
    has, labelled = values == values.max(), labels == labels.max()
    if has[labelled].mean() < 0.5:
        has = ~has
    others = float(has[~labelled].mean())
    return others if has[labelled].mean() >= HAVE and others <= OTHERS_HAVE else None


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
    if (frame := as_frame("X", X)) is not None:
        numeric = [at for at in range(len(frame.columns)) if frame[:, at].dtype.is_numeric()]
        if not numeric:
            return None
        taken = frame[rows.tolist()]
        values = np.column_stack([numbers("X", taken[:, at].to_numpy()) for at in numeric])
        called = [f"feature {shown(frame.columns[at])}" for at in numeric]
    elif getattr(X, "format", None) == "csr" or (
        isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iufb"
    ):
        values = X[rows]
        values = values if isinstance(values, np.ndarray) else values.toarray()
        called = [f"feature {i} (counted from 0)" for i in range(values.shape[1])]
    else:
        return None
    values = values.astype(np.float64)
    return np.where(np.isnan(values), -np.inf, values), called


def _correlations(
    values: NDArray[Any], labels: NDArray[Any], query: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Of each column of `values` with `labels`, shape (rows, 1); 0 for a column constant in every query."""
    ranks, wanted = _centred_ranks(values, query), _centred_ranks(labels, query)
    spread = np.sqrt((ranks * ranks).sum(axis=0) * (wanted * wanted).sum())
    return np.divide((ranks * wanted).sum(axis=0), spread, out=np.zeros(spread.size), where=spread > 0)


def _centred_ranks(values: NDArray[Any], query: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average rank within its query, in (−1/2, 1/2), of each value of each column; rows of a query are adjacent."""
    from pandas import DataFrame

    of_query = DataFrame(values).groupby(query, sort=False)
    size = of_query.transform("size").to_numpy()[:, None]
    return np.asarray((of_query.rank().to_numpy() - (size + 1) / 2) / size)
