"""What trainings on workers are compared with: small data, parameters, and the booster of one process.

Features have few values, all of them on each worker: engines find their bins from the rows of single workers.
"""

import numpy as np
import xgboost as xgb

from lambdaboost import Blend, ClickTier, LambdaRank, Linear, Queries
from lambdaboost.datasets import Collection
from lambdaboost.engines import ENGINES
from lambdaboost.engines.base import with_min_leaf_size
from lambdaboost.training import make_dataset

OBJECTIVE = Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.02))
PARAMS = {
    "lightgbm": {
        "verbose": -1,
        "num_leaves": 7,
        "min_data_in_leaf": 5,
        "min_data_in_bin": 1,
        "num_threads": 1,
    },
    "xgboost": {"max_depth": 3, "min_child_weight": 0.1, "max_bin": 16, "nthread": 1},
}


def log(queries, seed):
    """Grades, clicks and features of so many queries of 20 documents."""
    rng = np.random.default_rng(seed)
    n = 20 * queries
    grades = rng.choice(4, p=[0.5, 0.25, 0.15, 0.1], size=n)
    clicks = np.where(rng.random(n) < 0.3, np.round(rng.random(n), 1), np.nan)
    X = np.clip(np.round(grades[:, None] + 2 * rng.normal(size=(n, 6))), 0, 4)
    return Collection(X, Queries(grades, sizes=[20] * queries, clicks=clicks))


def booster_of(engine, params, train, rounds, objective, valid=None, measure=None, early_stopping=None):
    """The booster of the stock engine; after early stopping up to its best round."""
    data = make_dataset(engine, train)
    held_out = None if valid is None else make_dataset(engine, valid, data)
    stock = ENGINES[engine]
    params = with_min_leaf_size(params, stock, objective, train.queries.n_documents)
    return stock.train(objective, params, rounds, data, held_out, measure, early_stopping)


def scores(engine, booster, X):
    """The scores of rows, whatever the names of the features."""
    if engine == "lightgbm":
        return booster.predict(X)
    return booster.predict(xgb.DMatrix(X, feature_names=booster.feature_names))
