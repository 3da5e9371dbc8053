"""MART's trees on both engines: least-squares splits, Newton leaves worked by hand, any objective of lambdaboost."""

import json

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from experiments.svore2011.mart import LARGEST_STEP, train_lightgbm, train_xgboost
from lambdaboost import CNDCG, NDCG, Blend, GradientStep, LambdaRank, Queries, RankNet, graded
from lambdaboost.datasets import web_search_log

X, Q = web_search_log(queries=60, documents=15, seed=1)
ROUNDS = 6
TREES = {
    "lightgbm": {"num_leaves": 7, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1},
    "xgboost": {"max_depth": 3, "nthread": 1, "min_child_weight": 5},
}


def queries(weight=None):
    return Queries(Q.relevance, Q.sizes, weight=weight, clicks=Q.labels["clicks"])


def train(engine, q, objective, rounds=ROUNDS, rate=0.3, l2=0.01):
    if engine == "lightgbm":
        return train_lightgbm(TREES[engine], data(engine, q), X, q, objective, rounds, rate, l2)
    return train_xgboost(TREES[engine], data(engine, q), q, objective, rounds, rate, l2)


def data(engine, q):
    if engine == "xgboost":
        weight = None if q.weight is None else q.weight[q.offsets[:-1]]
        return xgb.DMatrix(X, q.relevance, group=q.sizes, weight=weight, nthread=1)
    return lgb.Dataset(X, q.relevance, group=q.sizes, weight=q.weight, params={"verbose": -1})


def leaves_of(booster, rounds):
    """(leaf of each row, score of each row after the tree), tree by tree."""
    if isinstance(booster, lgb.Booster):
        leaves = booster.predict(X, pred_leaf=True)
        scores = [booster.predict(X, num_iteration=m + 1) for m in range(rounds)]
    else:
        matrix = xgb.DMatrix(X, nthread=1)
        leaves = booster.predict(matrix, pred_leaf=True)
        scores = [booster.predict(matrix, iteration_range=(0, m + 1)) for m in range(rounds)]
    return zip(leaves.reshape(len(X), -1).T.astype(int), scores, strict=True)


def structure(engine, booster, tree):
    """The splits of a tree."""
    if engine == "lightgbm":
        text = booster.model_to_string(num_iteration=1, start_iteration=tree)
        kept = ("split_feature=", "threshold=", "left_child=", "right_child=", "leaf_count=")
        return [line for line in text.splitlines() if line.startswith(kept)]
    grown = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"][tree]
    inner = np.array(grown["left_children"]) != -1
    names = ("left_children", "right_children", "split_indices", "default_left")
    return [grown[name] for name in names] + [np.array(grown["split_conditions"])[inner].tolist()]


BOTH = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


@BOTH
@pytest.mark.parametrize(
    "objective",
    [LambdaRank(), graded(0.3), Blend(LambdaRank(), RankNet(2.0), lambda m: m / 6)],
    ids=["LambdaRank", "graded", "schedule"],
)
@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2.0, 60)], ids=["even", "weighted"])
def test_every_leaf_is_newtons_at_the_scores_of_its_round(engine, objective, weight):
    q = queries(weight)
    before = np.zeros(len(X))
    for m, (leaf, after) in enumerate(leaves_of(train(engine, q, objective), ROUNDS)):
        grad, hess = objective.gradient(before, q, m)
        expected = -0.3 * np.bincount(leaf, grad) / (np.maximum(np.bincount(leaf, hess), 1e-300) + 0.01)
        np.testing.assert_allclose(after - before, expected[leaf], rtol=1e-4, atol=1e-5)
        before = after


@BOTH
def test_splits_are_least_squares(engine):
    """The first tree has the splits of a stock training whose hessian is 1."""
    q, step = queries(), GradientStep(LambdaRank(), normalize="none")
    params = TREES[engine] | {"learning_rate": 0.2}  # which is no matter of a first tree's splits
    if engine == "lightgbm":
        plain = lgb.train(params | {"objective": step, "lambda_l2": 0.01}, data(engine, q), 1)
    else:
        own = {"lambda": 0.01, "base_score": 0.0, "disable_default_eval_metric": True}
        plain = xgb.train(params | own, data(engine, q), 1, obj=step)
    assert structure(engine, train(engine, q, LambdaRank(), 1), 0) == structure(engine, plain, 0)
    assert structure(engine, train(engine, q, LambdaRank(), 1), 0) != structure(
        engine, train(engine, q, RankNet(), 1), 0
    )


@BOTH
def test_a_training_raises_its_measure_and_its_leaves_hold_enough_documents(engine):
    booster = train(engine, Q, LambdaRank(), 20)
    (*_, (_, scores)) = leaves_of(booster, 20)
    assert NDCG(3)(scores, Q) > NDCG(3)(np.zeros(len(X)), Q) + 0.2
    assert min(np.unique(leaf, return_counts=True)[1].min() for leaf, _ in leaves_of(booster, 20)) >= 5


@BOTH
def test_high_rates_stay_finite(engine):
    """Where the curvature of a leaf vanishes the step is capped."""
    (*_, (_, scores)) = leaves_of(train(engine, Q, LambdaRank(), 40, rate=10.0, l2=0.0), 40)
    assert 1e3 < np.abs(scores).max() <= 40 * 10 * LARGEST_STEP


def test_rounds_without_a_split_change_nothing():
    """The first two, in which nothing is learnt: LightGBM begins with a tree of a single leaf."""
    late = Blend(LambdaRank(), LambdaRank(CNDCG(source="none")), lambda m: float(m < 2))
    q = Queries(Q.relevance, Q.sizes, none=np.zeros(len(X)))
    booster = train("lightgbm", q, late, 5)
    np.testing.assert_array_equal(booster.predict(X), train("lightgbm", Q, LambdaRank(), 3).predict(X))
