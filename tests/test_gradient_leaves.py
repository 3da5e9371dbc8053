"""The least documents of a leaf under gradient steps: lambdaboost's default on both engines, and only a default."""

import json

import pytest

from lambdaboost import Blend, GradientStep, LambdaRank, RankNet, iteration_dependent
from lambdaboost.datasets import web_search_log
from lambdaboost.engines import ENGINES
from lambdaboost.engines.base import GRADIENT_LEAF, min_leaf_size, with_min_leaf_size
from lambdaboost.training import make_dataset


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


def train(name, objective, params, log):
    engine = ENGINES[name]
    params = with_min_leaf_size(params, engine, objective, log.queries.n_documents)
    return engine.train(objective, params, 4, make_dataset(name, log))


@pytest.mark.parametrize("objective", [GradientStep(LambdaRank()), iteration_dependent()], ids=repr)
def test_lightgbm(log, objective):
    def least(**params):
        booster = train("lightgbm", objective, params, log)
        nodes = booster.trees_to_dataframe()
        return nodes.loc[nodes.left_child.isna(), "count"].min()

    assert least() >= 100
    assert 30 <= least(min_data_in_leaf=30) < 100
    assert 10 <= least(min_child_samples=10) < 100


def test_xgboost(log):
    def least(objective, **params):
        booster = train("xgboost", objective, params, log)
        config = json.loads(booster.save_config())
        return float(config["learner"]["gradient_booster"]["tree_train_param"]["min_child_weight"])

    assert least(GradientStep(LambdaRank())) == 100
    assert least(GradientStep(LambdaRank()), min_child_weight=7) == 7
    assert least(LambdaRank()) == 1
