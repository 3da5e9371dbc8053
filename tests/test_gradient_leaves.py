"""The least documents of a leaf under gradient steps: lambdaboost's default on both engines, and only a default."""

import json

import pytest

from lambdaboost import Blend, GradientStep, LambdaRank, RankNet, iteration_dependent
from lambdaboost.datasets import web_search_log
from lambdaboost.engines.base import GRADIENT_LEAF, min_leaf_size
from lambdaboost.training import boost, make_dataset


@pytest.fixture(scope="module")
def log():
    return web_search_log(60, documents=60, seed=5).shuffled(0)


def test_the_figure():
    step = GradientStep(LambdaRank())
    assert GRADIENT_LEAF == 100
    assert min_leaf_size(step, 1_000_000) == 100
    assert min_leaf_size(step, 1_000) == 50
    assert min_leaf_size(step, 3) == 20
    assert min_leaf_size(LambdaRank(), 1_000_000) is None
    assert min_leaf_size(Blend(step, GradientStep(RankNet()), 0.5), 1_000_000) == 100


@pytest.mark.parametrize("objective", [GradientStep(LambdaRank()), iteration_dependent()], ids=repr)
def test_lightgbm(log, objective):
    def least(**params):
        booster = boost("lightgbm", objective, params, 5, make_dataset("lightgbm", log))
        nodes = booster.trees_to_dataframe()
        return nodes.loc[nodes.left_child.isna(), "count"].min()

    assert least() >= 100
    assert 30 <= least(min_data_in_leaf=30) < 100
    assert 10 <= least(min_child_samples=10) < 100


def test_xgboost(log):
    def least(objective, **params):
        booster = boost("xgboost", objective, params, 3, make_dataset("xgboost", log))
        config = json.loads(booster.save_config())
        return float(config["learner"]["gradient_booster"]["tree_train_param"]["min_child_weight"])

    assert least(GradientStep(LambdaRank())) == 100
    assert least(GradientStep(LambdaRank()), min_child_weight=7) == 7
    assert least(LambdaRank()) == 1
