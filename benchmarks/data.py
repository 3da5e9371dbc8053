"""Synthetic training data of a given shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.plan import Shape
from lambdaboost import Queries

SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # shares of grades 0 to 4, as in web search data
FEATURES = 20


@dataclass(frozen=True, eq=False)
class Data:
    """Features correlated with the grades, and queries with relevance and clicks."""

    features: NDArray[np.float64]
    queries: Queries


@lru_cache(maxsize=1)
def made(shape: Shape) -> Data:
    """The data of a shape, which are reproducible."""
    rng = np.random.default_rng(0)
    n = shape.queries * shape.documents
    features = rng.normal(size=(n, FEATURES))
    grades = graded(features @ rng.normal(size=FEATURES) + 2 * rng.normal(size=n))
    clicks = np.round(np.clip(grades / 5 + 0.2 * rng.normal(size=n), 0, 1), 2)
    return Data(features, Queries(grades, sizes=np.full(shape.queries, shape.documents), clicks=clicks))


def graded(utility: NDArray[np.float64]) -> NDArray[np.float64]:
    """Grades 0 to 4 in the shares of `SHARES`, by ascending utility."""
    return np.searchsorted(np.quantile(utility, np.cumsum(SHARES[:-1])), utility).astype(np.float64)
