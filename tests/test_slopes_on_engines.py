"""Rules that draw or measure perturbed scores, trained by LightGBM and XGBoost: better than chance on held-out data."""

import re

import lightgbm as lgb
import numpy as np
import on_lightgbm as ours_lgb
import pytest
import xgboost as xgb
from lightgbm_data import PARAMS, Q_VALID, X_VALID, Q, X, dataset

from experiments.yue2007.slopes import SPSA, FiniteDifference
from lambdaboost import MAP, NDCG, GradientStep, GumbelRanks, LambdaRank, SigmoidLocal

ROUNDS = 25


def top_heavy(scores, q):
    """A measure of a user's own: the mean grade of the three best documents."""
    ranks = np.lexsort((-scores, q.query_of_row))
    place = np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)
    return np.add.reduceat(np.where(place < 3, q.relevance[ranks], 0.0), q.offsets[:-1]) / 3


OBJECTIVES = [
    GradientStep(FiniteDifference(NDCG(k=10), step=0.5)),
    GradientStep(FiniteDifference(top_heavy, step=0.5)),
    GradientStep(SPSA(NDCG(k=10), step=0.5, draws=8)),
    GradientStep(SPSA(MAP(), step=0.5, draws=8, seed=1)),
    FiniteDifference(NDCG(), step=1.0),
    GumbelRanks(LambdaRank(), beta=0.5),
    GumbelRanks(LambdaRank(MAP()), beta=0.5, draws=2, seed=3),
    GradientStep(GumbelRanks(SigmoidLocal(), beta=0.5)),
]
# Without the address of a function, by which every process would name the test anew.
EACH = pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: re.sub(r" at 0x\w+", "", repr(o)))
CHANCE = np.mean([NDCG()(np.random.default_rng(i).random(Q_VALID.n_documents), Q_VALID) for i in range(20)])


@EACH
def test_beats_random_order_on_lightgbm(objective):
    booster = lgb.train({**PARAMS, "objective": objective}, dataset(), ROUNDS)
    assert NDCG()(booster.predict(X_VALID), Q_VALID) > CHANCE + 0.05


@EACH
def test_beats_random_order_on_xgboost(objective):
    data = xgb.DMatrix(X, Q.relevance, qid=Q.query_of_row)
    params = {
        "max_depth": 3,
        "nthread": 1,
        "base_score": 0.0,
        "min_child_weight": 0,
        "disable_default_eval_metric": 1,
    }
    booster = xgb.train(params, data, ROUNDS, obj=objective)
    assert NDCG()(booster.predict(xgb.DMatrix(X_VALID)), Q_VALID) > CHANCE + 0.05


@pytest.mark.parametrize("objective", [SPSA(step=0.5), GumbelRanks(LambdaRank())], ids=repr)
def test_a_continued_training_goes_on_with_the_same_draws(objective):
    whole = ours_lgb.train(PARAMS, dataset(), 8, objective=objective)
    half = ours_lgb.train(PARAMS, dataset(), 4, objective=objective)
    rest = ours_lgb.train(PARAMS, dataset(), 4, objective=objective, init_model=half)
    np.testing.assert_allclose(rest.predict(X_VALID), whole.predict(X_VALID), rtol=1e-6, atol=1e-9)
