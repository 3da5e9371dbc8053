"""Pearson's correlation of two figures of each query's documents, and the average ranks that make it Spearman's."""

from __future__ import annotations

from math import frexp, ldexp, sqrt

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact, inlined_exact, kernel, over_queries, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.ranking import ranking


def correlations(x: NDArray[np.float64], y: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
    """Pearson's r of each query over the documents whose `y` is not NaN; NaN where either is constant."""
    out = np.empty(q.n_queries)
    over_queries(_correlations, q.offsets, x, y, out)
    return out


def average_ranks(values: NDArray[np.float64], which: NDArray[np.bool_], q: Queries) -> NDArray[np.float64]:
    """The ascending ranks of the `values` among these documents of each query, ties averaged; NaN for the others.

    >>> average_ranks(np.array([0.5, 2, 2, 9]), np.array([True, True, True, False]), Queries([0] * 4, sizes=[4]))
    array([1. , 2.5, 2.5, nan])
    """
    out = np.full(q.n_documents, np.nan)
    order = ranking(np.where(which, values, -np.inf), q.offsets)
    over_queries(_average_ranks, q.offsets, order, values, which, out)
    return out


@inlined_exact
def _scale(largest):  # type: ignore[no-untyped-def]
    """A power of two that brings figures up to `largest` to about 1, so that no square overflows or vanishes."""
    return ldexp(1.0, min(-frexp(largest)[1], 1000))


@inlined_exact
def _correlation(a, b, x, y):  # type: ignore[no-untyped-def]
    """Of rows a:b. Differences from the first one are exact where figures lie close, and 0 where they are constant."""
    n, first, largest_x, largest_y = 0, a, 0.0, 0.0
    for i in range(b - 1, a - 1, -1):
        if not np.isnan(y[i]):
            n, first = n + 1, i
            largest_x, largest_y = max(largest_x, abs(x[i])), max(largest_y, abs(y[i]))
    if n < 2:
        return np.nan
    x_scale, y_scale = _scale(largest_x), _scale(largest_y)
    x_0, y_0 = x[first] * x_scale, y[first] * y_scale
    mean_x, mean_y = 0.0, 0.0
    for i in range(first, b):
        mean_x += x[i] * x_scale - x_0 if not np.isnan(y[i]) else 0.0
        mean_y += y[i] * y_scale - y_0 if not np.isnan(y[i]) else 0.0
    mean_x, mean_y = mean_x / n, mean_y / n
    xx, xy, yy = 0.0, 0.0, 0.0
    for i in range(first, b):
        there = not np.isnan(y[i])
        dx = x[i] * x_scale - x_0 - mean_x if there else 0.0
        dy = y[i] * y_scale - y_0 - mean_y if there else 0.0
        xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
    return min(max(xy / sqrt(xx * yy), -1.0), 1.0) if xx > 0 and yy > 0 else np.nan


@exact
def _correlations(first, last, offsets, x, y, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        out[q] = _correlation(offsets[q], offsets[q + 1], x, y)


@uncounted
def _ranks_of_query(q, offsets, order, values, which, out):  # type: ignore[no-untyped-def]
    a, b = offsets[q], offsets[q + 1]
    order, values, which, out = order[a:b], values[a:b], which[a:b], out[a:b]
    rank = 0
    for i in order:
        rank += which[i]
    r = 0
    while r < order.size:
        start, tied, value = r, 0, values[order[r]]
        if not which[order[r]]:
            r += 1
            continue
        while r < order.size and (not which[order[r]] or values[order[r]] == value):
            tied += which[order[r]]
            r += 1
        for at in range(start, r):
            if which[order[at]]:
                out[order[at]] = rank - 0.5 * (tied - 1)
        rank -= tied


@kernel
def _average_ranks(first, last, offsets, order, values, which, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        _ranks_of_query(q, offsets, order, values, which, out)
