"""The engines' own objectives, and the same ones called by lambdaboost, trained side by side: the same trees."""

import lightgbm as lgb
import numpy as np
import on_xgboost
import pytest
import xgboost as xgb
from on_xgboost import LOGISTIC, Logistic

from lambdaboost import XENDCG, LambdaRank
from lambdaboost.datasets import web_search_log

LGB = {"verbose": -1, "num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, "deterministic": True}
XGB = {"nthread": 1, "max_depth": 4, "base_score": 0.0}
BAGS = {"bagging_fraction": 0.5, "bagging_freq": 1}
ROUNDS = 30
X, Q = web_search_log(queries=60, documents=40, features=20, seed=1)
RELEVANT = Q.relevance > 0
WEIGHT = np.random.default_rng(0).uniform(0.1, 3.0, Q.n_documents)


def rows(weight=None):
    return lgb.Dataset(X, Q.relevance, group=Q.sizes, weight=weight)


@pytest.mark.parametrize("seed", [0, 5, 2**31 - 1])
@pytest.mark.parametrize(
    ("weight", "params"),
    [
        (None, {}),
        (WEIGHT, BAGS),
        (None, {"data_sample_strategy": "goss"}),
        (None, {"extra_trees": True}),
    ],
    ids=["plain", "weights and bags", "goss", "extra trees"],
)
def test_same_trees_of_lightgbm(seed, weight, params):
    """To the last digit, with the random targets of its generator."""
    native = {"objective": "rank_xendcg", "objective_seed": seed}
    objective = XENDCG(seed=seed)
    expected = lgb.train(LGB | params | native, rows(weight), ROUNDS)
    ours = lgb.train(LGB | params | {"objective": objective}, rows(weight), ROUNDS)
    assert ours.trees_to_dataframe().equals(expected.trees_to_dataframe())


def test_lambdarank_is_lightgbms_rule_without_normalisation():
    """But for its table of the sigmoid, which is right to 1.2e-5."""
    native = {"objective": "lambdarank", "lambdarank_norm": False, "lambdarank_truncation_level": 1000}
    theirs, ours = (
        lgb.train(LGB | rule, rows(), ROUNDS).predict(X) for rule in (native, {"objective": LambdaRank()})
    )
    assert np.abs(ours - theirs).max() < 1e-4 * np.ptp(theirs)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"booster": "dart", "rate_drop": 0.3},
        {"subsample": 0.5},
        {"tree_method": "approx"},
        {"num_parallel_tree": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore:.*booster=dart:UserWarning")  # deprecated from XGBoost 3.4
def test_the_same_scores_of_xgboost(params, weighted):
    """To rounding, as a share of the range. Weights decide bins too, of queries otherwise than of rows: few values."""
    features = np.clip(np.round(X), 0, 4) if weighted else X
    weight = WEIGHT[: Q.n_queries] if weighted else None
    by_row = np.repeat(weight, Q.sizes) if weighted else None
    data = on_xgboost.dataset(features, Q.relevance, group=Q.sizes, weight=weight)
    ours = on_xgboost.train(XGB | params, data, ROUNDS, objective=Logistic())
    own = xgb.DMatrix(features, RELEVANT, weight=by_row)
    expected = xgb.train(XGB | params | LOGISTIC, own, ROUNDS).predict(own, output_margin=True)
    assert np.abs(ours.predict(data) - expected).max() < 1e-6 * np.ptp(expected)
