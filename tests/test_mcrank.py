"""McRank, by classes and ordinal: the engines' own classifiers by the callback, ranked by the expected grade."""

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from experiments.chakrabarti2008.mcrank import McRank, OrdinalMcRank
from lambdaboost import NDCG
from lambdaboost.datasets import web_search_log

TRAIN, TEST = (web_search_log(queries=60, documents=30, seed=seed) for seed in (0, 1))
X, Y = TRAIN.features, TRAIN.queries.relevance
LGB = {"verbose": -1, "num_leaves": 7, "num_threads": 1}
XGB = {"max_depth": 3, "nthread": 1, "base_score": 0.0, "disable_default_eval_metric": True}
MODELS = pytest.mark.parametrize("model", [McRank(5), OrdinalMcRank(5)], ids=repr)


def outputs(model):
    return model.classes - isinstance(model, OrdinalMcRank)


def by_lightgbm(model, rounds=20, **more):
    params = {**LGB, "objective": model, "num_class": outputs(model), "metric": "None", **more}
    return lgb.train(params, lgb.Dataset(X, Y), rounds).predict(TEST.features, raw_score=True)


def by_xgboost(model, rounds=20):
    data = xgb.DMatrix(X, Y)
    booster = xgb.train({**XGB, "num_class": outputs(model)}, data, rounds, obj=model)
    return booster.predict(xgb.DMatrix(TEST.features), output_margin=True)


@MODELS
@pytest.mark.parametrize("train", [by_lightgbm, by_xgboost])
def test_beats_random_order(train, model):
    q = TEST.queries
    chance = max(NDCG(10)(np.random.default_rng(i).random(q.n_documents), q) for i in range(20))
    assert NDCG(10)(model.scores(train(model)), q) > chance + 0.1


def test_lightgbms_own_classifier():
    native = lgb.train(
        {**LGB, "objective": "multiclass", "num_class": 5, "boost_from_average": False}, lgb.Dataset(X, Y), 10
    )
    probabilities = native.predict(TEST.features)
    own = McRank(5).scores(by_lightgbm(McRank(5), 10))
    np.testing.assert_allclose(own, probabilities @ np.arange(5), rtol=1e-4, atol=1e-5)


def test_one_logistic_classifier_a_threshold():
    """The trees of each output are those of a classifier of its own."""
    raw = by_lightgbm(OrdinalMcRank(5), 5)
    for z in range(1, 5):
        params = {**LGB, "objective": "binary", "boost_from_average": False}
        alone = lgb.train(params, lgb.Dataset(X, z <= Y), 5).predict(TEST.features, raw_score=True)
        np.testing.assert_allclose(raw[:, z - 1], alone, rtol=1e-4, atol=1e-5)
