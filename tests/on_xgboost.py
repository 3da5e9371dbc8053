"""Stock XGBoost in one line, for tests: a matrix with label sources, and a training by an objective."""

import numpy as np
import pytest
import xgboost as xgb

from lambdaboost import NDCG, LambdaRank, attach
from lambdaboost.engines.native import NativeObjective
from lambdaboost.objectives import Objective
from lambdaboost.objectives.parsing import read_objective

stores_values = pytest.mark.skipif(
    [int(part) for part in xgb.__version__.split(".")[:2]] < [3, 1],
    reason="XGBoost stores the values of categories since 3.1",
)
QUIET = {"objective": "rank:ndcg", "base_score": 0.0, "disable_default_eval_metric": True}

DEFAULT = LambdaRank()
LOGISTIC = {"objective": "binary:logistic", "base_score": 0.5}  # with scores from 0


class Logistic(Objective, registered=False):
    """XGBoost's `LOGISTIC` of whether a document is relevant, which no other document bears on."""

    def lambdas(self, scores, q, iteration):
        p = 1 / (1 + np.exp(-scores))
        return (q.relevance > 0) - p, p * (1 - p)


def dataset(X, y, *, sources=None, position=None, **more):
    return attach(xgb.DMatrix(X, y, **more), position=position, **(sources or {}))


def train(params, data, rounds, *, objective=DEFAULT, **more):
    rule = read_objective(objective)
    if more.get("evals"):
        more = {"verbose_eval": False, "custom_metric": NDCG(3)} | more
    own = dict(QUIET)
    if more.get("xgb_model") is not None:
        del own["base_score"]
    if isinstance(rule, NativeObjective):
        return xgb.train({**own, **params, "objective": rule}, data, rounds, **more)
    return xgb.train({**own, **params}, data, rounds, obj=rule, **more)
