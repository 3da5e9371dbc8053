"""A schedule goes on where a training stopped, by the engines' own ways to continue a model."""

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from lightgbm_data import PARAMS, Q, X

from lambdaboost import Blend, Exponential, LambdaRank, Linear, RankNet

SCHEDULES = [Linear(0.0, 0.1), Exponential(0.1, 5.0), lambda m: m % 2]
EACH = pytest.mark.parametrize("schedule", SCHEDULES, ids=["linear", "exponential", "function"])
XGBOOST = {
    "objective": "rank:ndcg",
    "base_score": 0,
    "disable_default_eval_metric": 1,
    "max_depth": 3,
    "nthread": 1,
}


def parts(schedule):
    """Seen by both engines, with the rounds in which the schedule was asked."""
    asked = []

    def noted(iteration):
        asked.append(iteration)
        return schedule(iteration)

    return Blend(RankNet(), LambdaRank(), noted), asked


def by_lightgbm(objective, rounds, model=None):
    data = lgb.Dataset(X, Q.relevance, group=Q.sizes, free_raw_data=False)
    return lgb.train({**PARAMS, "objective": objective, "metric": "None"}, data, rounds, init_model=model)


def matrix():
    return xgb.DMatrix(X, Q.relevance, qid=Q.query_of_row)


def by_xgboost(objective, rounds, model=None, **more):
    return xgb.train(XGBOOST, matrix(), rounds, obj=objective, xgb_model=model, **more)


@EACH
def test_lightgbm_by_init_model(schedule, tmp_path):
    objective, asked = parts(schedule)
    at_once = by_lightgbm(objective, 10)
    half = by_lightgbm(objective, 5)
    asked.clear()
    half.save_model(tmp_path / "half.txt")
    for model in (half, str(tmp_path / "half.txt")):
        whole = by_lightgbm(objective, 5, model)
        np.testing.assert_allclose(whole.predict(X), at_once.predict(X), rtol=1e-5, atol=1e-6)
    assert sorted(set(asked)) == [5, 6, 7, 8, 9]
    anew = by_lightgbm(objective, 5).predict(X)
    assert np.abs(anew + half.predict(X) - at_once.predict(X)).max() > 1e-3  # which counts from 0


@EACH
def test_xgboost_by_its_checkpoints(schedule, tmp_path):
    objective, asked = parts(schedule)
    at_once = by_xgboost(objective, 10).predict(matrix())
    saved = xgb.callback.TrainingCheckPoint(tmp_path, interval=5)
    by_xgboost(objective, 7, callbacks=[saved])
    (file,) = tmp_path.glob("model_5.*")
    half = xgb.Booster(model_file=file)
    asked.clear()
    whole = by_xgboost(objective, 10 - half.num_boosted_rounds(), half)
    np.testing.assert_allclose(whole.predict(matrix()), at_once, rtol=1e-5, atol=1e-6)
    assert sorted(set(asked)) == [*range(half.num_boosted_rounds(), 10)]
