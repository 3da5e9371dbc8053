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


@pytest.fixture(scope="module")
def log():
    return web_search_log(queries=40, documents=25, features=20, seed=1)


def rows(X, q, weighted):
    weight = np.random.default_rng(0).uniform(0.1, 3.0, q.n_documents) if weighted else None
    return lgb.Dataset(X, q.relevance, group=q.sizes, weight=weight)


def trees(booster):
    text = booster.model_to_string(num_iteration=-1)
    return text[text.index("Tree=0") : text.index("end of trees")]


def assert_same_model(X, q, objective, native, weighted=False, **params):
    params = PARAMS | params
    expected = trees(lgb.train(params | native, rows(X, q, weighted), ROUNDS))
    assert trees(train(params, rows(X, q, weighted), ROUNDS, objective=objective)) == expected
    if isinstance(objective, XENDCG):
        stock = lgb.train(params | {"objective": objective}, rows(X, q, weighted), ROUNDS)
        assert trees(stock) == expected


def ranked(truncation, norm, sigma):
    native = {"objective": "lambdarank", "lambdarank_truncation_level": truncation, "lambdarank_norm": norm}
    return LightGBMRule(truncation=truncation, norm=norm, sigma=sigma), native | {"sigmoid": sigma}


def xendcg(seed):
    return XENDCG(seed=seed), {"objective": "rank_xendcg", "objective_seed": seed}


BAGS = {"bagging_fraction": 0.5, "bagging_freq": 1}


@pytest.mark.parametrize(
    ("of", "weighted", "params"),
    [
        *((ranked(*of), False, {}) for of in ((3, True, 1.0), (30, True, 2.0), (30, False, 1.0))),
        (ranked(30, False, 1.0), True, {}),
        *(
            (ranked(30, True, 1.0), False, params)
            for params in (BAGS, {"data_sample_strategy": "goss"}, {"extra_trees": True})
        ),
        *((xendcg(seed), False, {}) for seed in (0, 5, 2**31 - 1)),
        (xendcg(5), True, BAGS),
    ],
    ids=str,
)
def test_same_trees(log, of, weighted, params):
    assert_same_model(*log, *of, weighted, **params)


@pytest.mark.parametrize("of", [ranked(30, True, 1.0), xendcg(5)], ids=str)
def test_same_trees_on_real_data(data, of):
    assert_same_model(*read_letor(data / "lightgbm_rank" / "rank.train.xz"), *of)


def test_lambdarank_is_lightgbms_rule_without_normalisation(log):
    """But for its table of the sigmoid, which is right to 1.2e-5."""
    X, q = log
    native = {"objective": "lambdarank", "lambdarank_norm": False, "lambdarank_truncation_level": 1000}
    theirs, ours = (
        lgb.train({**PARAMS, **rule}, rows(X, q, False), ROUNDS).predict(X)
        for rule in (native, {"objective": LambdaRank()})
    )
    assert np.abs(ours - theirs).max() < 1e-4 * np.ptp(theirs)
