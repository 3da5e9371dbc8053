"""Unknown parameters are refused by rankers and warned of in stock trainings, with the likely name."""

import json

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from lambdaboost import LambdaRank
from lambdaboost._installed import engine_named

LIGHTGBM, XGBOOST = (engine_named(name).PARAMETERS for name in ("lightgbm", "xgboost"))
X = np.random.default_rng(0).normal(size=(40, 3))
Y, SIZES = np.tile([0, 1, 2, 1], 10), [20, 20]


@pytest.mark.parametrize(
    ("engine", "name", "meant"),
    [
        ("lightgbm", "n_estimator", "n_estimators"),
        ("lightgbm", "num_leavs", "num_leaves"),
        ("lightgbm", "lerning_rate", "learning_rate"),
        ("xgboost", "n_estimator", "n_estimators"),
        ("xgboost", "max_dept", "max_depth"),
        ("xgboost", "metric", "eval_metric"),
    ],
)
def test_a_misspelt_parameter_of_a_ranker_is_answered_with_the_likely_name(engine, name, meant):
    ranker = engine_named(engine).LambdaRanker(**{name: 10})
    with pytest.raises(ValueError, match=f"^{name}=10 is no parameter of a ranker: did you mean .*'{meant}'"):
        ranker.fit(X, Y, group=SIZES)


def test_a_misspelt_parameter_of_a_stock_training_is_warned_of():
    """XGBoost warns of its own."""
    params = {"verbose": -1, "objective": LambdaRank(), "num_leavs": 7, "min_data_in_leaf": 5}
    with pytest.warns(
        UserWarning, match="params has 'num_leavs', which LightGBM does not know: did you mean"
    ):
        lgb.train(params, lgb.Dataset(X, Y, group=SIZES), 1)


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
