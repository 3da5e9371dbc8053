"""Synthetic training data of a given shape."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from benchmarks.plan import Shape
from lambdaboost import Queries
from lambdaboost.datasets import Collection
from lambdaboost.datasets.synthetic import grades_by_share

FEATURES = 20


@lru_cache(maxsize=1)
def made(shape: Shape) -> Collection:
    """The data of a shape, which are reproducible: features correlated with the grades, relevance and clicks."""
    rng = np.random.default_rng(0)
    n = shape.queries * shape.documents
    features = rng.normal(size=(n, FEATURES))
    grades = grades_by_share(features @ rng.normal(size=FEATURES) + 2 * rng.normal(size=n))
    clicks = np.round(np.clip(grades / 5 + 0.2 * rng.normal(size=n), 0, 1), 2)
    return Collection(features, Queries(grades, sizes=np.full(shape.queries, shape.documents), clicks=clicks))
