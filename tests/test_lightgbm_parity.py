"""LightGBM's own objectives, lambdarank and rank_xendcg, against lambdaboost's: the same trees to the last digit."""

import lightgbm as lgb
import numpy as np
import pytest
from engine_rules import LightGBMRule
from on_lightgbm import train

from lambdaboost import XENDCG, LambdaRank
from lambdaboost.datasets import read_letor, web_search_log

PARAMS = {"verbose": -1, "num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, "deterministic": True}
ROUNDS = 30


def trees(booster):
    text = booster.model_to_string(num_iteration=-1)
    return text[text.index("Tree=0") : text.index("end of trees")]


def assert_same_model(X, q, truncation, norm, sigma, weight=None, **params):
    def data():
        return lgb.Dataset(X, q.relevance, group=q.sizes, weight=weight)

    native = {"objective": "lambdarank", "lambdarank_truncation_level": truncation, "lambdarank_norm": norm}
    expected = lgb.train({**PARAMS, **params, **native, "sigmoid": sigma}, data(), ROUNDS)
    objective = LightGBMRule(truncation=truncation, norm=norm, sigma=sigma)
    got = train({**PARAMS, **params}, data(), ROUNDS, objective=objective)
    assert trees(got) == trees(expected)


def test_lambdarank_is_lightgbms_rule_without_normalisation(log):
    """But for its table of the sigmoid, which is right to 1.2e-5."""
    X, q = log
    native = {"objective": "lambdarank", "lambdarank_norm": False, "lambdarank_truncation_level": 1000}
    theirs, ours = (
        lgb.train({**PARAMS, **rule}, lgb.Dataset(X, q.relevance, group=q.sizes), ROUNDS).predict(X)
        for rule in (native, {"objective": LambdaRank()})
    )
    assert np.abs(ours - theirs).max() < 1e-4 * np.ptp(theirs)


def assert_same_xendcg(X, q, seed, weight=None, **params):
    def data():
        return lgb.Dataset(X, q.relevance, group=q.sizes, weight=weight)

    params = PARAMS | params
    expected = lgb.train({**params, "objective": "rank_xendcg", "objective_seed": seed}, data(), ROUNDS)
    assert trees(train(params, data(), ROUNDS, objective=XENDCG(seed=seed))) == trees(expected)
    assert trees(lgb.train({**params, "objective": XENDCG(seed=seed)}, data(), ROUNDS)) == trees(expected)


@pytest.fixture(scope="module")
def log():
    return web_search_log(queries=40, documents=25, features=20, seed=1)


@pytest.mark.parametrize(
    ("truncation", "norm", "sigma"), [(3, True, 1.0), (30, True, 1.0), (30, True, 2.0), (30, False, 1.0)]
)
def test_same_trees(log, truncation, norm, sigma):
    assert_same_model(*log, truncation, norm, sigma)


def test_same_trees_with_weights(log):
    X, q = log
    weight = np.random.default_rng(0).uniform(0.1, 3.0, q.n_documents)
    assert_same_model(X, q, 30, False, 1.0, weight)


@pytest.mark.parametrize(
    "params",
    [{"bagging_fraction": 0.5, "bagging_freq": 1}, {"data_sample_strategy": "goss"}, {"extra_trees": True}],
    ids=str,
)
def test_same_trees_grown_by_chance(log, params):
    assert_same_model(*log, 30, True, 1.0, **params)


def test_same_trees_on_real_data(data):
    X, q = read_letor(data / "lightgbm_rank" / "rank.train.xz")
    assert_same_model(X, q, 30, True, 1.0)


@pytest.mark.parametrize("seed", [0, 5, 2**31 - 1])
def test_same_trees_of_xendcg(log, seed):
    assert_same_xendcg(*log, seed)


def test_same_trees_of_xendcg_with_weights_and_bags(log):
    X, q = log
    weight = np.random.default_rng(0).uniform(0.1, 3.0, q.n_documents)
    assert_same_xendcg(X, q, 5, weight, bagging_fraction=0.5, bagging_freq=1)


def test_same_trees_of_xendcg_on_real_data(data):
    X, q = read_letor(data / "lightgbm_rank" / "rank.train.xz")
    assert_same_xendcg(X, q, 5)
