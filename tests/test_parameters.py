"""Unknown parameters are refused on both engines, misspelt ones with the likely name."""

import json

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from lambdaboost import lightgbm as lb_lightgbm
from lambdaboost import xgboost as lb_xgboost
from lambdaboost.engines.engine import engine_named

LIGHTGBM, XGBOOST = (engine_named(name).parameters() for name in ("lightgbm", "xgboost"))
X = np.random.default_rng(0).normal(size=(40, 3))
Y, SIZES = np.tile([0, 1, 2, 1], 10), [20, 20]


def call(engine, how, params):
    module = {"lightgbm": lb_lightgbm, "xgboost": lb_xgboost}[engine]
    quiet = {"verbosity": -1 if engine == "lightgbm" else 0}
    if how == "fit":
        return module.LambdaRanker(**quiet, **params).fit(X, Y, group=SIZES)
    data = (module.Dataset if engine == "lightgbm" else module.DMatrix)(X, Y, group=SIZES)
    return getattr(module, how)({**quiet, **params}, data, 1)


@pytest.mark.parametrize("how", ["train", "cv", "fit"])
@pytest.mark.parametrize(
    ("engine", "name", "meant"),
    [
        ("lightgbm", "n_estimator", "n_estimators"),
        ("lightgbm", "num_leavs", "num_leaves"),
        ("lightgbm", "lerning_rate", "learning_rate"),
        ("xgboost", "n_estimator", "n_estimators"),
        ("xgboost", "max_dept", "max_depth"),
        ("xgboost", "lamda", "lambda"),
        ("xgboost", "metric", "eval_metric"),
        ("xgboost", "num_leaves", "max_leaves"),
    ],
)
def test_a_misspelt_parameter_is_answered_with_the_likely_name(engine, how, name, meant):
    with pytest.raises(
        ValueError, match=f"^params has '{name}', which \\w+ does not know: did you mean '{meant}'"
    ):
        call(engine, how, {name: 10})


@pytest.mark.parametrize("how", ["train", "cv", "fit"])
@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_names_like_none_are_refused_too(engine, how):
    with pytest.raises(
        ValueError, match=r"params has 'foo', which .* does not know: (did you mean|leave it out)"
    ):
        call(engine, how, {"foo": 3})


def test_every_parameter_of_the_engines_is_known():
    estimator = set(lgb.LGBMRanker().get_params()) - {"class_weight", "importance_type"}
    assert estimator <= LIGHTGBM and len(LIGHTGBM) > 300
    known = {name for name in xgb.XGBRanker().get_params() if name != "kwargs"}
    data = xgb.DMatrix(X, Y)
    for params in (
        {"tree_method": "hist"},
        {"tree_method": "exact"},
        {"booster": "dart"},
        {"booster": "gblinear"},
    ):
        booster = xgb.train(params | {"objective": "rank:ndcg"}, xgb.DMatrix(X, Y, group=SIZES), 1)
        known |= set(_leaf_names(json.loads(booster.save_config())["learner"]))
    assert data.num_row() == 40
    assert known - {"name", "boost_from_average", "num_trees", "metrics"} <= XGBOOST


def _leaf_names(config):
    for name, value in config.items():
        if isinstance(value, dict):
            yield from _leaf_names(value)
        elif not isinstance(value, list):
            yield name
