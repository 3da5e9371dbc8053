"""Grades first, then a plain column of 0 and 1: the second label shows on held-out queries, on both engines."""

import lightgbm as lgb
import numpy as np
import on_lightgbm as ours_lgb
import on_xgboost as ours_xgb
import pytest
import xgboost as xgb

from lambdaboost import CNDCG, NDCG, LambdaRank, Queries, graded
from lambdaboost.datasets import Collection

QUERIES, EACH = 300, 20


def searches(seed):
    """The first feature makes grades, and the second what users prefer: a click has probability 1/(1 + e^(3 − 4x))."""
    rng = np.random.default_rng(seed)
    X = rng.random((QUERIES * EACH, 4))
    grades = np.floor(3 * X[:, 0]).clip(0, 2)
    clicked = rng.random(len(X)) < 1 / (1 + np.exp(3 - 4 * X[:, 1]))
    return Collection(X, Queries(grades, sizes=[EACH] * QUERIES, clicks=clicked.astype(int)))


TRAIN, TEST = searches(0), searches(1)
SOURCES = {"clicks": TRAIN.queries.labels["clicks"]}


def on_lightgbm(objective):
    data = ours_lgb.dataset(
        TRAIN.features, TRAIN.queries.relevance, group=TRAIN.queries.sizes, sources=SOURCES
    )
    params = {"objective": objective, "num_leaves": 15, "verbose": -1, "num_threads": 1}
    return lgb.train(params, data, 40).predict(TEST.features)


def on_xgboost(objective):
    data = ours_xgb.dataset(
        TRAIN.features, TRAIN.queries.relevance, group=TRAIN.queries.sizes, sources=SOURCES
    )
    params = {"max_depth": 4, "base_score": 0, "nthread": 1}
    return xgb.train(params, data, 40, obj=objective).predict(xgb.DMatrix(TEST.features))


@pytest.mark.parametrize("train", [on_lightgbm, on_xgboost])
def test_clicks_of_0_and_1_raise_their_measure_within_grades(train):
    one, two = (train(objective) for objective in (LambdaRank(), graded(0.3)))
    gain = CNDCG().per_query(two, TEST.queries) - CNDCG().per_query(one, TEST.queries)
    error = gain.std(ddof=1) / np.sqrt(gain.size)
    assert gain.mean() > 2 * error
    assert NDCG()(two, TEST.queries) > NDCG()(one, TEST.queries) - 0.01  # the grades still come first


@pytest.mark.filterwarnings("ignore:ClickTier")
@pytest.mark.parametrize("train", [on_lightgbm, on_xgboost])
def test_by_the_papers_rule_they_order_nothing(train):
    """Up to the weight that is left of the first part, λ and μ are those of LambdaRank."""
    q = TRAIN.queries
    scores = np.linspace(0, 1, q.n_documents)
    papers, one = graded(0.3, zeros="missing").gradient(scores, q), LambdaRank().gradient(scores, q)
    np.testing.assert_allclose(papers, 0.7 * np.array(one), rtol=1e-6)
    found = [train(objective) for objective in (LambdaRank(), graded(0.3, zeros="missing"))]
    first, second = (CNDCG().per_query(scores, TEST.queries) for scores in found)
    assert abs(first.mean() - second.mean()) < 0.01
