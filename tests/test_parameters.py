"""Unknown parameters are refused by rankers and warned of in stock trainings, with the likely name."""

import json

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from warned import warnings_of

from lambdaboost import NDCG, GradientStep, LambdaRank
from lambdaboost.engines import ENGINES

LIGHTGBM, XGBOOST = (ENGINES[name].parameter_names() for name in ("lightgbm", "xgboost"))
X = np.random.default_rng(0).normal(size=(40, 3))
Y, SIZES = np.tile([0, 1, 2, 1], 10), [20, 20]


def test_a_misspelt_parameter_of_a_stock_training_is_warned_of():
    """XGBoost warns of its own."""
    params = {"verbose": -1, "objective": LambdaRank(), "num_leavs": 7, "min_data_in_leaf": 5}
    (said,) = warnings_of(lambda: lgb.train(params, lgb.Dataset(X, Y, group=SIZES), 1))
    assert said.startswith("params has 'num_leavs', which LightGBM does not know: did you mean")


def test_every_parameter_of_the_engines_is_known():
    estimator = set(lgb.LGBMRanker().get_params()) - {"class_weight", "importance_type"}
    assert estimator <= LIGHTGBM and len(LIGHTGBM) > 300
    known = {name for name in xgb.XGBRanker().get_params() if name != "kwargs"}
    for params in ({"tree_method": "exact"}, {"booster": "dart"}, {"booster": "gblinear"}, {}):
        booster = xgb.train(params | {"objective": "rank:ndcg"}, xgb.DMatrix(X, Y, group=SIZES), 1)
        known |= set(_leaf_names(json.loads(booster.save_config())["learner"]))
    assert known - {"name", "boost_from_average", "num_trees", "metrics"} <= XGBOOST


def _leaf_names(config):
    for name, value in config.items():
        if isinstance(value, dict):
            yield from _leaf_names(value)
        elif not isinstance(value, list):
            yield name


# What a booster itself tells of its parameters.

STEP = GradientStep(LambdaRank())
XGB = {"nthread": 1, "verbosity": 0, "objective": "rank:ndcg", "base_score": 0}


def matrix():
    return xgb.DMatrix(X, Y, group=SIZES)


def named(train):
    """The parameters of which a training warns."""
    return [said.split(":")[0] for said in warnings_of(train)]


def boosted(**params):
    """One round in a loop of one's own."""
    data = matrix()
    xgb.Booster({**XGB, **params}, [data]).update(data, 0, fobj=STEP)


def test_a_linear_booster_has_no_leaves():
    linear = {**XGB, "booster": "gblinear"}
    assert "min_child_weight" not in named(lambda: xgb.train(linear, matrix(), 1, obj=STEP))


def test_a_booster_tells_its_parameters_in_any_loop():
    least = {"min_child_weight": 20}
    assert named(boosted) == ["min_child_weight"]
    assert named(lambda: boosted(**least)) == []

    def outer(scores, data):
        boosted()  # has parameters of its own
        return scores - data.get_label(), np.ones_like(scores)

    assert named(lambda: xgb.train({**XGB, **least}, matrix(), 1, obj=outer)) == ["min_child_weight"]


def test_parameters_of_xgboost_as_pairs():
    pairs = [*XGB.items(), ("min_child_weight", 20), ("eval_metric", "ndcg"), ("eval_metric", "map")]
    assert named(lambda: xgb.train(pairs, matrix(), 1, obj=STEP)) == []


def test_numbers_as_text():
    large = np.tile(X, (20, 1)), np.tile(Y, 20)  # of 40 rows LightGBM uses no feature

    def train(**more):
        params = {"verbose": -1, "objective": LambdaRank(), **more}
        lgb.train(params, lgb.Dataset(*large, group=np.tile(SIZES, 20)), 1)

    assert named(lambda: train(min_child_samples="")) == []
    assert named(lambda: train(bagging_by_query=True, bagging_freq="0")) == []


def test_a_warning_is_said_once_though_weights_change():
    data = lgb.Dataset(X, Y, group=SIZES)

    def reweight(env):
        data.set_weight(np.full(len(X), 1.0 + env.iteration))

    params = {"verbose": -1, "objective": LambdaRank(), "lambdarank_norm": True, "min_data_in_leaf": 5}
    train = lambda: lgb.train(params, data, 4, callbacks=[reweight])  # noqa: E731
    assert named(train) == ["lambdarank_norm"]


def test_the_default_metric_of_xgboost_keeps_its_name():
    """Two metrics of one name would be one curve."""
    found, data = {}, matrix()
    given = {
        "custom_metric": NDCG(k=32),
        "evals": [(data, "valid")],
        "evals_result": found,
        "verbose_eval": 0,
    }
    xgb.train({**XGB, "min_child_weight": 0}, data, 2, obj=LambdaRank(), **given)
    assert list(found["valid"]) == ["ndcg@32", "ndcg@32-lambdaboost"] and len(found["valid"]["ndcg@32"]) == 2
