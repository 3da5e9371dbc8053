"""A small search log as LightGBM data, for the tests of the front door."""

import on_lightgbm

from lambdaboost.datasets import web_search_log

X, Q = web_search_log(queries=30, documents=20, features=16, seed=5)
X_VALID, Q_VALID = web_search_log(queries=20, documents=20, features=16, seed=6)
PARAMS = {"verbose": -1, "num_threads": 1, "num_leaves": 5, "min_data_in_leaf": 10, "deterministic": True}


def dataset(**more):
    return on_lightgbm.dataset(
        X, Q.relevance, **{"group": Q.sizes, "sources": {"clicks": Q.labels["clicks"]}} | more
    )
