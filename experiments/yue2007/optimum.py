"""Figures 2 and 3 and section 5.3: NDCG by shifted weights, and by steps of all weights, of trained rankers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from experiments.yue2007.accuracy import MEASURE
from experiments.yue2007.local_optimum import LocalOptimum, local_optimum_test
from experiments.yue2007.sweep import WeightSweep, weight_sweep
from experiments.yue2007.weights import Weights, leaf_weights, linear_weights
from lambdaboost import LambdaRank, Queries, RankNet
from lambdaboost.datasets import web_search_log
from lambdaboost.objectives import Objective

DOCUMENTS, ROUNDS, TREES = 20, 100, 20
SIZES = (100, 1000)  # the paper's, and all queries
STEPS = (0.05, 0.1, 0.2)  # of the norm of the weights
NEAR = 0.02  # of a leaf's value, where the steps of NDCG can be seen
LINEAR, PAIRS, LEAVES = "LambdaRank, linear", "RankNet, linear", "LambdaRank, trees"


@dataclass(frozen=True, eq=False)
class Optimum:
    """What `at_the_end` finds: shifts of single weights and leaves, and steps of all, by model and length."""

    weights: WeightSweep
    leaves: WeightSweep
    near: WeightSweep
    steps: dict[tuple[str, float], LocalOptimum]


def at_the_end(queries: int, seed: int) -> Optimum:
    """Train two linear rankers and some trees on so many synthetic queries, and move their weights."""
    X, q = web_search_log(queries, DOCUMENTS, seed=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # so that weights are comparable
    models = {
        LINEAR: linear(X, q, LambdaRank(MEASURE)),
        PAIRS: linear(X, q, RankNet()),
        LEAVES: leaf_weights(trees(X, q, LambdaRank(MEASURE)), X),
    }
    sizes = sorted({*(n for n in SIZES if n < queries), queries})
    near = np.linspace(-NEAR, NEAR, 101)
    return Optimum(
        weight_sweep(models[LINEAR], q, MEASURE, sizes),
        weight_sweep(models[LEAVES], q, MEASURE, sizes),
        weight_sweep(models[LEAVES], q, MEASURE, [queries], near),
        {
            (name, step): local_optimum_test(weights, q, MEASURE, step, seed)
            for name, weights in models.items()
            for step in STEPS
        },
    )


def linear(X: Any, q: Queries, objective: Objective) -> Weights:
    """A linear model that XGBoost trains by coordinate descent; on several threads no run is like another."""
    params = {"booster": "gblinear", "nthread": 1, "eta": 0.5, "lambda": 0, "verbosity": 0}
    booster = xgb.train(params, xgb.DMatrix(X, q.relevance, group=q.sizes), ROUNDS, obj=objective)
    *coefficients, _bias = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"][
        "weights"
    ]
    return linear_weights(coefficients, X)


def trees(X: Any, q: Queries, objective: Objective) -> lgb.Booster:
    """LightGBM's trees, whose leaves are the weights."""
    params = {"objective": objective, "num_leaves": 15, "verbose": -1, "num_threads": 1}
    return lgb.train(params, lgb.Dataset(X, q.relevance, group=q.sizes), TREES)
