"""Stock LightGBM in one line, for tests: a data set with label sources, and a training by an objective."""

import lightgbm as lgb
import numpy as np

from lambdaboost import NDCG, LambdaRank, attach
from lambdaboost.objectives.parsing import read_objective

DEFAULT = LambdaRank()


def sizes_of(qid):
    """The number of documents of each query."""
    return np.diff(np.flatnonzero(np.r_[True, np.asarray(qid)[1:] != np.asarray(qid)[:-1], True]))


def dataset(X, y, *, group=None, qid=None, sources=None, position=None, **more):
    grades = np.asarray(y, dtype=np.float32)
    missing = {"relevance": grades} if np.isnan(grades).any() else {}
    group = sizes_of(qid) if group is None else group
    data = lgb.Dataset(X, np.nan_to_num(grades), group=group, **more)
    return attach(data, position=position, **(sources or {}), **missing)


def train(params, data, rounds, *, objective=DEFAULT, **more):
    if more.get("valid_sets"):
        more = {"feval": NDCG(3)} | more
    return lgb.train(
        {"metric": "None", **params, "objective": read_objective(objective)}, data, rounds, **more
    )
