"""Iterators of batches for XGBoost, of a search log with clicks, positions and weights of queries."""

from itertools import pairwise

import numpy as np
import xgboost as xgb

from lambdaboost.datasets import web_search_log
from lambdaboost.xgboost import DMatrix, ExtMemQuantileDMatrix, QuantileDMatrix

X, Q = web_search_log(queries=60, documents=20, features=16, seed=5)
X = X.astype(np.float32)
QID = Q.query_of_row
RANK = np.arange(len(X)) - Q.offsets[QID] + 1
CUTS = (0, 300, 310, 700, len(X))  # inside queries
GRADES = np.where(np.arange(len(X)) % 5, Q.relevance, np.nan).astype(np.float32)
COLUMNS = {
    "data": X,
    "label": GRADES,
    "qid": QID,
    "weight": np.linspace(0.5, 2.0, Q.n_queries)[QID],
    "sources": {"clicks": Q.labels["clicks"]},
    "position": np.where(RANK > 10, np.nan, RANK),
}
MATRICES = {"DMatrix": DMatrix, "QuantileDMatrix": QuantileDMatrix}
if hasattr(xgb, "ExtMemQuantileDMatrix"):
    MATRICES["ExtMemQuantileDMatrix"] = ExtMemQuantileDMatrix


class Batches(xgb.DataIter):
    """Gives `parts` in every pass; `called` is called before each with its number, over all passes."""

    def __init__(self, parts, folder=None, called=lambda number: None):
        super().__init__(cache_prefix=None if folder is None else str(folder / "cache"))
        self.parts, self.called, self.number = parts, called, 0

    def reset(self):
        self.left = list(self.parts)

    def next(self, input_data):
        self.called(self.number)
        self.number += 1
        if not self.left:
            return False
        input_data(**self.left.pop(0))
        return True


def parts(columns=COLUMNS, cuts=CUTS):
    """The columns between `cuts`, as batches."""
    return [taken(columns, slice(start, end)) for start, end in pairwise(cuts)]


def taken(values, rows):
    if isinstance(values, dict):
        return {name: taken(of, rows) for name, of in values.items() if of is not None}
    return values[rows].copy()


def in_batches(kind, folder, given=None, called=lambda number: None, **more):
    """A matrix of lambdaboost from an iterator, whose cache is in `folder`."""
    cached = kind != "QuantileDMatrix"
    return MATRICES[kind](Batches(given or parts(), folder if cached else None, called), **more)
