"""What lambdaboost uses of the engines beyond their documentation is still there.

Seen in LightGBM 4.6 and 4.7, and in XGBoost 2.1 to 3.4. Where a test fails with a later version, mend
`lambdaboost/_lightgbm.py` or `lambdaboost/_xgboost.py`, and raise the bound in pyproject.toml.
"""

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.model_selection import GroupKFold

from lambdaboost import RankNet
from lambdaboost import _lightgbm as stock_lightgbm
from lambdaboost import _xgboost as stock_xgboost
from lambdaboost.callback import calling_booster

X, Y, SIZES = np.random.default_rng(0).normal(size=(60, 3)), np.tile([0, 1, 2], 20), [30, 30]


LIGHTGBM = {"verbosity": -1, "min_data_in_leaf": 2}


def test_boosters_are_told_apart():
    of = {"lightgbm": lgb.Booster({"verbosity": -1}, lgb.Dataset(X, Y)), "xgboost": xgb.Booster()}
    assert [stock_lightgbm.is_booster(booster) for booster in of.values()] == [True, False]
    assert not stock_lightgbm.is_booster(lgb.CVBooster()) and not stock_lightgbm.is_booster(lgb.LGBMRanker())


def test_xgboost_writes_the_settings_that_are_read():
    data = xgb.DMatrix(X, Y, group=SIZES)
    seen = []

    def objective(scores, data):
        state = stock_xgboost.state_of(calling_booster())
        tree_method = state["gradient_booster"]["gbtree_train_param"]["tree_method"]
        seen.append((state["generic_param"]["nthread"], tree_method, state["objective"]["name"]))
        return scores - data.get_label(), np.ones_like(scores)

    xgb.train({"nthread": 1, "tree_method": "approx", "objective": "rank:pairwise"}, data, 1, obj=objective)
    assert seen == [("1", "approx", "rank:pairwise")], "mend what reads state_of of lambdaboost/_xgboost.py"


def test_a_subset_of_lightgbm_knows_its_rows():
    seen = []

    def objective(scores, data):
        seen.append((data.used_indices, stock_lightgbm.parent_of(data)))
        return RankNet()(scores, data)

    data = lgb.Dataset(X, Y, group=SIZES)
    lgb.cv(LIGHTGBM | {"objective": objective, "metric": "None"}, data, 1, folds=GroupKFold(2))
    assert [parent is data for _, parent in seen] == [True, True], "mend parent_of"
    assert sorted(np.concatenate([rows for rows, _ in seen])) == list(range(60)), "mend parent_of"
    assert stock_lightgbm.parent_of(data) is None


@pytest.mark.parametrize("train", [xgb.train, xgb.cv])
def test_xgboosts_training_functions_hold_what_is_read_of_them(train):
    seen, params = [], {"objective": "reg:squarederror", "eta": 0.5, "disable_default_eval_metric": True}

    def objective(scores, data):
        booster = calling_booster("update")
        seen.append((stock_xgboost.params_of(booster).get("eta"), stock_xgboost.metrics_in_training(booster)))
        return scores - data.get_label(), np.ones_like(scores)

    def metric(scores, data):
        return "own", 0.0

    train(params, xgb.DMatrix(X, Y), 1, obj=objective, custom_metric=metric)
    assert seen[0] == (0.5, [metric]), "mend params_of of lambdaboost/_xgboost.py"
