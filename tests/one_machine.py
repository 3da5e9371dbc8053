"""What trainings on workers are compared with: small data, parameters, and the booster of one process.

Features have few values, all of them on each worker: engines find their bins from the rows of single workers.
"""

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from lambdaboost import Blend, ClickTier, LambdaRank, Linear, Queries
from lambdaboost import lightgbm as lb_lightgbm
from lambdaboost import xgboost as lb_xgboost
from lambdaboost.datasets import Collection

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


def booster_of(
    engine, params, train, rounds, objective, valid=None, measure=None, early_stopping=None, **more
):
    """The booster that lambdaboost's `train` returns."""
    more |= {"objective": objective}
    if engine == "lightgbm":
        data = dataset(train)
        if valid is not None:
            stop = lgb.early_stopping(early_stopping, verbose=False)
            more |= {"valid_sets": [dataset(valid, data)], "feval": measure, "callbacks": [stop]}
        return lb_lightgbm.train(params, data, rounds, **more)
    if valid is not None:
        more |= {"evals": [(matrix(valid), "valid")], "custom_metric": measure}
        more |= {"early_stopping_rounds": early_stopping}
    return lb_xgboost.train(params, matrix(train), rounds, verbose_eval=False, **more)


def dataset(data, reference=None):
    return lb_lightgbm.Dataset(data.features, reference=reference, **labels(data.queries))


def matrix(data):
    return lb_xgboost.DMatrix(data.features, **labels(data.queries))


def labels(q):
    beside = {"weight": q.weight, "position": q.positions}
    return {"label": q.relevance, "qid": q.query_of_row, "sources": {"clicks": q.labels["clicks"]}, **beside}


def scores(engine, booster, X):
    """The scores of rows, whatever the names of the features."""
    if engine == "lightgbm":
        return booster.predict(X)
    return booster.predict(xgb.DMatrix(X, feature_names=booster.feature_names))
