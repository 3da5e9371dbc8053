"""The least documents of a leaf under gradient steps: lambdaboost's default on both engines, and only a default."""

import json

import numpy as np
import pytest

from lambdaboost import GradientStep, LambdaRank, iteration_dependent, lightgbm, xgboost
from lambdaboost.datasets import web_search_log
from lambdaboost.engines.leaves import GRADIENT_LEAF, least_documents


@pytest.fixture(scope="module")
def log():
    return web_search_log(60, documents=60, seed=5).shuffled(0)


def test_the_figure():
    step = GradientStep(LambdaRank())
    assert GRADIENT_LEAF == 100
    assert least_documents(step, 1_000_000) == 100
    assert least_documents(step, 1_000) == 50
    assert least_documents(step, 3) == 20
    assert least_documents(LambdaRank(), 1_000_000) is None


def lightgbm_leaf_counts(booster):
    nodes = booster.trees_to_dataframe()
    return nodes.loc[nodes.left_child.isna(), "count"]


@pytest.mark.parametrize("objective", [LambdaRank(), iteration_dependent()], ids=["leaves=", "recipe"])
def test_lightgbm(log, objective):
    X, q = log
    leaves = "gradient" if objective == LambdaRank() else "engine"

    def least(**params):
        data = lightgbm.Dataset(X, q.relevance, group=q.sizes)
        booster = lightgbm.train({"verbose": -1, **params}, data, 5, objective=objective, leaves=leaves)
        return lightgbm_leaf_counts(booster).min()

    assert least() >= 100
    assert 20 <= least(min_data_in_leaf=20) < 100
    assert 10 <= least(min_child_samples=10) < 100


def test_lightgbm_engine_leaves_keep_the_engines_default(log):
    X, q = log
    data = lightgbm.Dataset(X, q.relevance, group=q.sizes)
    lightgbm.train({"verbose": -1}, data, 2, leaves="gradient")
    booster = lightgbm.train({"verbose": -1}, data, 2)  # on the same data, after larger leaves
    assert booster.params.get("min_data_in_leaf", 20) == 20


def test_lightgbm_ranker(log):
    X, q = log
    step = lightgbm.LambdaRanker(leaves="gradient", n_estimators=3, verbose=-1).fit(
        X, q.relevance, group=q.sizes
    )
    assert lightgbm_leaf_counts(step.booster_).min() >= 100
    own = lightgbm.LambdaRanker(leaves="gradient", n_estimators=3, min_child_samples=20, verbose=-1)
    assert lightgbm_leaf_counts(own.fit(X, q.relevance, group=q.sizes).booster_).min() < 100


def test_xgboost(log):
    X, q = log

    def least(leaves, **params):
        data = xgboost.DMatrix(X, q.relevance, group=q.sizes)
        booster = xgboost.train(params, data, 3, leaves=leaves)
        config = json.loads(booster.save_config())
        return float(config["learner"]["gradient_booster"]["tree_train_param"]["min_child_weight"])

    assert least("gradient") == 100
    assert least("gradient", min_child_weight=7) == 7
    assert least("engine") == 1


def test_small_data_still_grow_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(float)
    data = lightgbm.Dataset(X, y, group=[20] * 10)
    booster = lightgbm.train({"verbose": -1}, data, 2, leaves="gradient")
    assert lightgbm_leaf_counts(booster).min() >= 20
    assert booster.num_trees() == 2
