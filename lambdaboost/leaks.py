"""Leaks: features that order the documents of a query almost as a label source does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._warn import warn
from lambdaboost._words import quote
from lambdaboost.datasets import Queries

ROWS, OF_QUERY = 2_000, 100  # the most rows examined for an order of the documents, and of one query
LEAST_QUERIES, LEAST_FREEDOM = 10, 50  # fewer queries, or fewer rows beyond one for each, may agree by chance
# The least rank correlation with an order of labels, and the least area under the curve of a feature that tells which
# documents have a label of at least some grade; few features that are known before a document is ranked come near.
OF_ORDER, OF_GRADE = 0.95, 0.95
# The same test, where no relevant document has an irrelevant one above it, as with clicks for purchases.
OF_ALL, LEAST_WANTED = 0.8, 30
GRADES = 10  # sources with more labels are examined by their order alone


class Leak(NamedTuple):
    """A feature that reveals the order of a label source, or which documents have a label of `least` or more."""

    column: int
    source: str
    value: float  # the rank correlation within queries, or with `least` the area under the curve
    queries: int  # that were examined
    least: float | None


def leaks(X: Any, q: Queries) -> list[Leak]:
    """The features, an array or CSR matrix, that reveal a label source.

    Either Spearman's correlation with the labels is at least 0.95 in absolute value, or the area under the curve of a
    feature that tells the documents with at least some grade is above 0.95 or below 0.05, or above 0.8 or below 0.2
    where all of these documents share the highest or the lowest value of their query. Both are of documents of one
    query, pooled over random queries whose documents differ. Each grade is examined by itself, over the queries that
    have it: few queries have a booking. A click as a feature of bookings orders few documents, and so has a low
    correlation, but all booked documents have one, even where many others do.

    >>> q = Queries(np.tile([0, 1, 2, 3, 4, 5], 20), sizes=[6] * 20)
    >>> leaks(np.column_stack([np.ones(120), -np.exp(q.relevance)]), q)
    [Leak(column=1, source='relevance', value=-1.0, queries=20, least=None)]
    """
    found: dict[tuple[int, str], Leak] = {}
    for source, labels in q.labels.items():
        grades = np.unique(labels[~np.isnan(labels)])
        # The order of all labels, unless there are two, then each grade above the lowest.
        orders: list[float | None] = []
        if grades.size != 2:
            orders.append(None)
        if grades.size <= GRADES:
            orders += grades[:0:-1].tolist()
        for least in orders:
            wanted = labels
            if least is not None:
                wanted = np.where(np.isnan(labels), labels, labels >= least)
            rows = _rows_that_differ(wanted, q)
            query = q.query_of_row[rows]
            queries = np.unique(query).size
            if queries < LEAST_QUERIES or rows.size - queries < LEAST_FREEDOM:
                continue
            features = X[rows]
            if not isinstance(features, np.ndarray):
                features = features.toarray()
            ranks = _centred_ranks(features, query)
            if least is None:
                of_labels = _centred_ranks(wanted[rows, None], query)
                spread = np.sqrt((ranks * ranks).sum(axis=0) * (of_labels * of_labels).sum())
                values = np.divide(
                    (ranks * of_labels).sum(axis=0), spread, out=np.zeros(spread.size), where=spread > 0
                )
                far = np.abs(values) >= OF_ORDER
            else:
                # The area under the curve is the share of pairs of a wanted and another document of one query that are
                # in this order, ties half. The sum of the centred ranks of the wanted, times the length of the query,
                # is half of the pairs that are right less half of those that are wrong (Mann and Whitney).
                is_wanted = wanted[rows] > 0
                _, of_row, sizes = np.unique(query, return_inverse=True, return_counts=True)
                n_wanted = np.bincount(of_row[is_wanted], minlength=sizes.size)
                right_less_wrong = 2 * (ranks * sizes[of_row, None])[is_wanted].sum(axis=0)
                values = 0.5 + right_less_wrong / (2 * (n_wanted * (sizes - n_wanted)).sum())
                far = np.abs(values - 0.5) >= OF_GRADE - 0.5
                if is_wanted.sum() >= LEAST_WANTED:
                    starts = np.cumsum(sizes) - sizes
                    highest = np.maximum.reduceat(ranks, starts)[of_row[is_wanted]]
                    lowest = np.minimum.reduceat(ranks, starts)[of_row[is_wanted]]
                    none_above = (ranks[is_wanted] == highest).all(axis=0)
                    none_below = (ranks[is_wanted] == lowest).all(axis=0)
                    far |= (none_above | none_below) & (np.abs(values - 0.5) >= OF_ALL - 0.5)
            for column in np.flatnonzero(far).tolist():
                leak = Leak(column, source, round(float(values[column]), 3), queries, least)
                found.setdefault((column, source), leak)
    return list(found.values())


def warn_of_leaks(X: Any, q: Queries, names: Sequence[Any] | None = None) -> None:
    """Warn of each leaking feature, with the remedy."""
    for column, source, value, queries, least in leaks(X, q):
        name = f"{column} (counted from 0)"
        if names is not None:
            name = quote(names[column])
        what = f"orders the documents of a query as the label source {source!r} does, rank correlation"
        if least is not None:
            what = f"reveals which documents of a query have a label {source!r} of {least:g} or more"
            what += ", area under the curve"
        warn(
            f"feature {name} {what} {value:.3f} over {queries} queries. The model will learn the labels from it: drop "
            "it, unless it is known before a document is ranked"
        )


def _rows_that_differ(labels: NDArray[np.floating], q: Queries) -> NDArray[np.int64]:
    """Labelled rows of random queries with two different labels."""
    starts, rng = q.offsets[:-1], np.random.default_rng(0)
    differ = np.flatnonzero(np.fmax.reduceat(labels, starts) > np.fmin.reduceat(labels, starts))
    rows: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    total = 0
    for query in rng.permutation(differ):
        of_query = np.arange(*q.offsets[query : query + 2])
        of_query = of_query[~np.isnan(labels[of_query])]
        if of_query.size > OF_QUERY:
            of_query = rng.choice(of_query, OF_QUERY, replace=False)
        rows.append(of_query)
        total += of_query.size
        if total >= ROWS:
            break
    return np.sort(np.concatenate(rows))


def _centred_ranks(values: NDArray[Any], query: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average rank within its query, in (−1/2, 1/2), of each value of each column, with NaN below all numbers."""
    import pandas as pd

    _, of_row, sizes = np.unique(query, return_inverse=True, return_counts=True)
    size = sizes[of_row, None]
    ranks = pd.DataFrame(values).groupby(of_row).rank(na_option="top").to_numpy()
    return np.asarray((ranks - (size + 1) / 2) / size)
