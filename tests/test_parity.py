"""The engines' own objectives, and copies of them that lambdaboost calls, trained side by side: the same trees."""

import json

import lightgbm as lgb
import numpy as np
import on_lightgbm
import on_xgboost
import pytest
import xgboost as xgb
from engine_rules import LightGBMRule, XGBoostRule

from lambdaboost import XENDCG, LambdaRank
from lambdaboost.datasets import read_letor, web_search_log

LGB = {"verbose": -1, "num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, "deterministic": True}
XGB = {"nthread": 1, "base_score": 0.0, "max_depth": 4, "objective": "rank:ndcg"}
TOP = {"objective": "rank:ndcg", "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 32}
ROUNDS = 30
LOG = web_search_log(queries=60, documents=40, features=20, seed=1)


# LightGBM: to the last digit.


def rows(X, q, weighted=False):
    weight = np.random.default_rng(0).uniform(0.1, 3.0, q.n_documents) if weighted else None
    return lgb.Dataset(X, q.relevance, group=q.sizes, weight=weight)


def trees(booster):
    text = booster.model_to_string(num_iteration=-1)
    return text[text.index("Tree=0") : text.index("end of trees")]


def assert_same_model(X, q, objective, native, weighted=False, params=LGB):
    expected = trees(lgb.train(params | native, rows(X, q, weighted), ROUNDS))
    ours = on_lightgbm.train(params, rows(X, q, weighted), ROUNDS, objective=objective)
    assert trees(ours) == expected
    if isinstance(objective, XENDCG):
        stock = lgb.train(params | {"objective": objective}, rows(X, q, weighted), ROUNDS)
        assert trees(stock) == expected


def ranked(truncation):
    native = {"objective": "lambdarank", "lambdarank_truncation_level": truncation}
    return LightGBMRule(truncation=truncation), native


def xendcg(seed):
    return XENDCG(seed=seed), {"objective": "rank_xendcg", "objective_seed": seed}


BAGS = {"bagging_fraction": 0.5, "bagging_freq": 1}


@pytest.mark.parametrize(
    ("of", "weighted", "params"),
    [
        *((ranked(truncation), weighted, {}) for truncation, weighted in ((3, False), (30, True))),
        *(
            (ranked(30), False, more)
            for more in (BAGS, {"data_sample_strategy": "goss"}, {"extra_trees": True})
        ),
        *((xendcg(seed), False, {}) for seed in (0, 5, 2**31 - 1)),
        (xendcg(5), True, BAGS),
    ],
    ids=str,
)
def test_same_trees_of_lightgbm(of, weighted, params):
    assert_same_model(LOG.features, LOG.queries, *of, weighted, LGB | params)


@pytest.mark.parametrize("of", [ranked(30), xendcg(5)], ids=str)
def test_same_trees_on_real_data(data, of):
    assert_same_model(*read_letor(data / "lightgbm_rank" / "rank.train.xz"), *of)


def test_lambdarank_is_lightgbms_rule_without_normalisation():
    """But for its table of the sigmoid, which is right to 1.2e-5."""
    X, q = LOG.features, LOG.queries
    native = {"objective": "lambdarank", "lambdarank_norm": False, "lambdarank_truncation_level": 1000}
    theirs, ours = (
        lgb.train({**LGB, **rule}, rows(X, q), ROUNDS).predict(X)
        for rule in (native, {"objective": LambdaRank()})
    )
    assert np.abs(ours - theirs).max() < 1e-4 * np.ptp(theirs)


# XGBoost: to rounding, as a share of the predictions' range.


def matrix(collection, weight=None):
    q = collection.queries
    return on_xgboost.dataset(collection.features, q.relevance, qid=q.query_of_row, weight=weight)


def largest_difference(data, truncation=32, **params):
    native = TOP | {"lambdarank_num_pair_per_sample": truncation}
    theirs = xgb.train({**XGB, **params, **native}, data, ROUNDS).predict(data)
    objective = XGBoostRule(truncation=truncation)
    ours = on_xgboost.train({**XGB, **params}, data, ROUNDS, objective=objective).predict(data)
    return np.abs(ours - theirs).max() / np.ptp(theirs)


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
@pytest.mark.filterwarnings("ignore:.*booster=dart:UserWarning")  # deprecated from XGBoost 3.4
def test_the_same_scores_of_xgboost(params):
    assert largest_difference(matrix(LOG), **params) < 1e-6


@pytest.mark.parametrize("truncation", [3, 32])
def test_weights_of_queries_of_xgboost(truncation):
    weight = np.random.default_rng(0).uniform(0.1, 3, LOG.queries.n_queries)
    weight[::7] = 0
    assert largest_difference(matrix(LOG, weight), truncation) < 1e-6


def test_the_same_scores_on_real_data(data):
    assert largest_difference(matrix(read_letor(data / "mq2008" / "S1.txt.xz"))) < 1e-6


@pytest.mark.skipif(xgb.__version__.startswith("2."), reason="XGBoost 2 sums in another order")
def test_the_same_trees_over_200_rounds():
    """Text for text, from the same start; the intercept that rank:ndcg fits by default, about 1e-9, is not 0."""
    data = matrix(web_search_log(queries=30, documents=15, seed=4))
    params = {**XGB, "max_depth": 3}
    native = xgb.train({**params, **TOP}, data, 200)
    own = on_xgboost.train(params, data, 200, objective=XGBoostRule())
    assert own.get_dump() == native.get_dump()
    config = json.loads(xgb.train({"nthread": 1, **TOP}, data, 1).save_config())
    intercept = np.ravel(json.loads(config["learner"]["learner_model_param"]["base_score"]))
    assert 0 < np.abs(intercept).max() < 1e-6
