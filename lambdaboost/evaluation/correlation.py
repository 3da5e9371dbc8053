"""Pearson's correlation of two figures of each query's documents, and the ranks that make it Spearman's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.rankings import ranking

Floats = NDArray[np.float64]


def correlations(x: Floats, y: Floats, q: Queries) -> Floats:
    """Pearson's r of each query over the documents whose `y` is not NaN; NaN where either is constant."""
    known = ~np.isnan(y)
    sizes = np.add.reduceat(known, q.offsets[:-1], dtype=np.int64)
    out, there = np.full(q.n_queries, np.nan), sizes > 0
    if not there.any():
        return out
    sizes = sizes[there]
    starts = np.cumsum(sizes) - sizes
    dx, dy = _centered(x[known], starts, sizes), _centered(y[known], starts, sizes)
    xx, xy, yy = (np.add.reduceat(product, starts) for product in (dx * dx, dx * dy, dy * dy))
    varied = (xx > 0) & (yy > 0)
    r = np.divide(xy, np.sqrt(xx * yy), where=varied, out=np.full(sizes.size, np.nan))
    out[there] = np.clip(r, -1.0, 1.0)
    return out


def _centered(values: Floats, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Floats:
    """The values less their mean in each query, times a power of two so that no square overflows or vanishes.

    Differences from the first value are exact where values lie close, and 0 where they are constant.
    """
    largest = np.maximum.reduceat(np.abs(values), starts)
    scaled = values * np.repeat(np.ldexp(1.0, np.minimum(-np.frexp(largest)[1], 1000)), sizes)
    scaled -= np.repeat(scaled[starts], sizes)
    scaled -= np.repeat(np.add.reduceat(scaled, starts) / sizes, sizes)
    return scaled


def centered_ranks(values: Floats, q: Queries) -> Floats:
    """The ascending ranks of the `values` of each query less their mean, ties averaged; NaN stays and has no rank.

    >>> centered_ranks(np.array([0.5, 2, 2, np.nan]), Queries([0] * 4, sizes=[4]))
    array([-1. ,  0.5,  0.5,  nan])
    """
    known = ~np.isnan(values)
    sizes = np.add.reduceat(known, q.offsets[:-1], dtype=np.int64)
    offsets = np.append(0, np.cumsum(sizes[sizes > 0]))
    rows, out = np.flatnonzero(known), np.full(values.size, np.nan)
    values = values[rows]
    over_queries(_average_ties, offsets, ranking(values, offsets), values, rows, out)
    return out


@kernel
def _average_ties(first, last, offsets, order, values, rows, out):
    for q in range(first, last):
        a, r, n = offsets[q], 0, offsets[q + 1] - offsets[q]
        while r < n:
            start, value = r, values[a + order[a + r]]
            while r < n and values[a + order[a + r]] == value:
                r += 1
            for at in range(start, r):
                out[rows[a + order[a + at]]] = 0.5 * (n - start - r)
