"""Data prepared as in the paper: grades 0 and 1, features in 0 to 1 within each query, queries with both grades."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.common.data import Data, dense
from lambdaboost import Queries
from lambdaboost.datasets import Collection


def prepare(data: Data, threshold: float) -> Data:
    """The data with every part prepared."""
    if not 0 < threshold < np.inf:
        raise ValueError(f"--threshold is {threshold:g}: give the lowest grade that counts as good, above 0")
    parts = {}
    for name, part in data.parts.items():
        if not _both(part.queries, threshold).any():
            raise ValueError(
                f"no query of {name} has documents of a grade of at least {threshold:g} and others: "
                "give another --threshold"
            )
        parts[name] = prepared(part, threshold)
    return Data(data.name, parts, data.folds, (), data.origin)


def prepared(part: Collection, threshold: float) -> Collection:
    """A part with binary grades and features of unit range, without queries that lack one of the grades."""
    X, q = part
    X = dense(X)
    starts = q.offsets[:-1]
    low, high = (np.repeat(f.reduceat(X, starts), q.sizes, axis=0) for f in (np.minimum, np.maximum))
    unit = (X - low) / np.where(high > low, high - low, 1.0)
    binary = Queries(np.where(np.isnan(q.relevance), np.nan, q.relevance >= threshold), q.sizes)
    return Collection(unit, binary).take(np.flatnonzero(_both(q, threshold)))


def _both(q: Queries, threshold: float) -> NDArray[np.bool_]:
    """Whether each query has documents both at and below the threshold."""
    good = np.logical_or.reduceat(q.relevance >= threshold, q.offsets[:-1])
    return good & np.logical_or.reduceat(q.relevance < threshold, q.offsets[:-1])
