"""Stock XGBoost in one line, for tests: a matrix with label sources, and a training by an objective."""

import numpy as np
import xgboost as xgb

from lambdaboost import NDCG, LambdaRank, attach
from lambdaboost.engines.native import NativeObjective
from lambdaboost.objectives import Objective
from lambdaboost.objectives.parsing import read_objective

QUIET = {"objective": "rank:ndcg", "base_score": 0.0, "disable_default_eval_metric": True}

DEFAULT = LambdaRank()
LOGISTIC = {"objective": "binary:logistic", "base_score": 0.5}  # with scores from 0


class Logistic(Objective, registered=False):
    """XGBoost's `LOGISTIC` of whether a document is relevant, which no other document bears on."""

    def lambdas(self, scores, q, iteration):
        p = 1 / (1 + np.exp(-scores))
        return (q.relevance > 0) - p, p * (1 - p)


def dataset(X, y, *, sources=None, position=None, kind=xgb.DMatrix, **more):
    grades = np.asarray(y, dtype=np.float32)
    missing = {"relevance": grades} if np.isnan(grades).any() else {}
    data = kind(X, np.nan_to_num(grades), **more)
    return attach(data, position=position, **(sources or {}), **missing)


def train(params, data, rounds, *, objective=DEFAULT, custom_metric=None, **more):
    rule = read_objective(objective)
    if custom_metric is None and more.get("evals"):
        custom_metric = NDCG(3)
    if isinstance(custom_metric, list | tuple):
        measures, custom_metric = custom_metric, lambda scores, data: [m(scores, data) for m in measures]
    more = {"verbose_eval": False, "custom_metric": custom_metric} | more
    own = dict(QUIET)
    if more.get("xgb_model") is not None:
        del own["base_score"]
    if isinstance(rule, NativeObjective):
        return xgb.train({**own, **params, "objective": rule}, data, rounds, **more)
    return xgb.train({**own, **params}, data, rounds, obj=rule, **more)
