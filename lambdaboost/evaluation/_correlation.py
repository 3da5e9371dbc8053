"""Pearson's correlation of two figures of each query's documents, and the ranks that make it Spearman's."""

from __future__ import annotations

from math import frexp, ldexp, sqrt

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact, inlined_exact, kernel, over_queries, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation._lanes import LANES, LONGEST, in_lanes, to_lanes
from lambdaboost.evaluation.ranking import ranking


def correlations(x: NDArray[np.float64], y: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
    """Pearson's r of each query over the documents whose `y` is not NaN; NaN where either is constant."""
    out = np.empty(q.n_queries)
    over_queries(_correlations, q.offsets, x, y, out)
    return out


def centered_ranks(values: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
    """The ascending ranks of the `values` of each query less their mean, ties averaged; NaN stays and has no rank.

    >>> centered_ranks(np.array([0.5, 2, 2, np.nan]), Queries([0] * 4, sizes=[4]))
    array([-1. ,  0.5,  0.5,  nan])
    """
    out, lanes = np.empty(q.n_documents), in_lanes(q)
    if lanes.query.size:
        over_queries(_ranks_in_lanes, lanes.documents, q.offsets, lanes, values, out)
    if lanes.documents[-1] < q.n_documents:
        order = ranking(np.where(np.isnan(values), -np.inf, values), q.offsets)
        over_queries(_ranks_by_sorting, q.offsets, order, values, out)
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
def _count_centered(n, values, twice):  # type: ignore[no-untyped-def]
    """Twice the centered rank of every position: the lower values less the higher ones."""
    for at in range(n * LANES):
        twice[at] = 0
    for p in range(n):
        v_p, twice_p = values[p * LANES : (p + 1) * LANES], twice[p * LANES : (p + 1) * LANES]
        for r in range(p + 1, n):
            v_r, twice_r = values[r * LANES : (r + 1) * LANES], twice[r * LANES : (r + 1) * LANES]
            for lane in range(LANES):
                later_higher = np.int32(v_r[lane] > v_p[lane]) - np.int32(v_r[lane] < v_p[lane])
                twice_p[lane] -= later_higher
                twice_r[lane] += later_higher


@uncounted
def _from_lanes(query, offsets, twice, values, out):  # type: ignore[no-untyped-def]
    for lane in range(LANES):
        q = query[lane]
        if q < 0:
            continue
        here, ranks = values[offsets[q] : offsets[q + 1]], out[offsets[q] : offsets[q + 1]]
        for p in range(here.size):
            ranks[p] = np.nan if np.isnan(here[p]) else 0.5 * twice[p * LANES + lane]


@kernel
def _ranks_in_lanes(first, last, documents, offsets, lanes, values, out):  # type: ignore[no-untyped-def]
    rows, twice = np.empty(LONGEST * LANES), np.empty(LONGEST * LANES, np.int32)
    for b in range(first, last):
        n = lanes.first[b + 1] - lanes.first[b]
        to_lanes(lanes.query[b], n, values, offsets, np.nan, rows)
        _count_centered(n, rows, twice)
        _from_lanes(lanes.query[b], offsets, twice, values, out)


@uncounted
def _ranks_of_query(q, offsets, order, values, out):  # type: ignore[no-untyped-def]
    """Among the last of `order`, of −inf, stand those without a value."""
    a, b = offsets[q], offsets[q + 1]
    order, values, out = order[a:b], values[a:b], out[a:b]
    n = 0
    for i in order:
        n += not np.isnan(values[i])
        out[i] = np.nan
    rank, r = 0.5 * (n - 1), 0
    while r < order.size:
        start, tied, value = r, 0, values[order[r]]
        if np.isnan(value):
            r += 1
            continue
        while r < order.size and (values[order[r]] == value or np.isnan(values[order[r]])):
            tied += values[order[r]] == value
            r += 1
        for at in range(start, r):
            if values[order[at]] == value:
                out[order[at]] = rank - 0.5 * (tied - 1)
        rank -= tied


@kernel
def _ranks_by_sorting(first, last, offsets, order, values, out):  # type: ignore[no-untyped-def]
    """Lists that are too long for lanes."""
    for q in range(first, last):
        if offsets[q + 1] - offsets[q] > LONGEST:
            _ranks_of_query(q, offsets, order, values, out)
