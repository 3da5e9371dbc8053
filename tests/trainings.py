"""Small trainings on either engine, for tests whose cases are processes of their own."""

import numpy as np

from lambdaboost import LambdaRank

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6000, 4))
Y = np.clip(np.round(X[:, 0] + RNG.normal(size=6000)), 0, 4)
GROUP = np.full(60, 100)
LAMBDARANK = LambdaRank()


class Calls:
    """An objective that calls a function as the engine calls it."""

    def __init__(self, function):
        self.function = function

    def __deepcopy__(self, memo):
        return self

    def __call__(self, scores, data):
        return self.function(scores, data)


def train(engine, objective=LAMBDARANK, rounds=5, measure=None, threads=2):
    """The text of a model, without its parameters."""
    if engine == "lightgbm":
        import lightgbm as lgb

        params = {
            "objective": objective,
            "metric": "None",
            "verbose": -1,
            "num_leaves": 7,
            "num_threads": threads,
        }
        params |= {"deterministic": True, "force_row_wise": True}
        data = lgb.Dataset(X, Y, group=GROUP, params={"verbose": -1, "num_threads": threads})
        booster = lgb.train(params, data, rounds, valid_sets=[data] if measure else None, feval=measure)
        return booster.model_to_string().partition("parameters:")[0]
    import xgboost as xgb

    params = {"objective": "rank:ndcg", "nthread": threads, "max_depth": 3, "base_score": 0.0}
    params["disable_default_eval_metric"] = True
    data = xgb.DMatrix(X, Y, group=GROUP, nthread=threads)
    evals = [(data, "train")] if measure else []
    booster = xgb.train(
        params, data, rounds, obj=objective, evals=evals, custom_metric=measure, verbose_eval=False
    )
    return bytes(booster.save_raw("json")).decode()
