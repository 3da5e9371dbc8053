"""Stock LightGBM in one line, for tests: a data set with label sources, and a training by an objective."""

import lightgbm as lgb

from lambdaboost import NDCG, LambdaRank, attach
from lambdaboost.objectives.parsing import read_objective

DEFAULT = LambdaRank()
PARAMS = {"verbose": -1, "num_threads": 1, "num_leaves": 5, "min_data_in_leaf": 10, "deterministic": True}


def dataset(X, y, *, sources=None, position=None, **more):
    return attach(lgb.Dataset(X, y, **more), position=position, **(sources or {}))


def train(params, data, rounds, *, objective=DEFAULT, **more):
    if more.get("valid_sets"):
        more = {"feval": NDCG(3)} | more
    return lgb.train(
        {"metric": "None", **params, "objective": read_objective(objective)}, data, rounds, **more
    )
