"""`collected`: a table with one row for each document as a `Collection`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lambdaboost import Queries
from lambdaboost.datasets import Collection

LEAST = 5  # documents of a query


def collected(table: pd.DataFrame, query: str, grade: str) -> Collection:
    """The queries with at least five documents and two grades; all columns but these two are features."""
    by_query = table.groupby(query)[grade]
    kept = (by_query.transform("size") >= LEAST) & (by_query.transform("nunique") > 1)
    table = table[kept].sort_values(query, kind="stable")
    features = table.drop(columns=[query, grade])
    sizes = np.unique(table[query], return_counts=True)[1]
    relevance = table[grade].to_numpy(dtype=np.float64)
    X = features.to_numpy(dtype=np.float32)
    return Collection(X, Queries(relevance, sizes), None, tuple(map(str, features)))
