"""What needs the rows of all workers, where an engine trains over a network that Ray or the user set up."""

import numpy as np
import pytest
import xgboost as xgb

from lambdaboost import Constrained, GradientStep, LambdaRank, RankNet, Scaled, Scorecard
from lambdaboost.engine_data import queries_of
from lambdaboost.engines import lightgbm
from lambdaboost.traps import Case, refuse_traps


@pytest.mark.parametrize(
    "objective",
    [
        Constrained(LambdaRank(), RankNet(), reference=(0.5,)),
        GradientStep(Scorecard((LambdaRank(), RankNet()), Scaled((0.5, 0.5)))),
    ],
    ids=repr,
)
def test_what_one_worker_cannot_do_is_refused_on_a_cluster(objective, monkeypatch):
    data = xgb.DMatrix(np.random.default_rng(0).random((40, 2)), np.tile([0, 1, 2, 1], 10), group=[20, 20])
    params = {"objective": "rank:ndcg", "base_score": 0, "min_child_weight": 0}
    assert xgb.train(params, data, 1, obj=objective).num_boosted_rounds() == 1
    monkeypatch.setattr("lambdaboost.engines.xgboost.workers", lambda params: 2)
    with pytest.raises(ValueError, match="no worker has all of them"):
        xgb.train(params, data, 1, obj=objective)


@pytest.mark.parametrize("network", [{"num_machines": 2}, {"machines": "a:1,b:2"}])
def test_lightgbms_workers_are_counted(network):
    import lightgbm as lgb

    booster = lgb.Booster(
        {"objective": "none", "verbose": -1}, lgb.Dataset(np.eye(4), [0, 1, 0, 1], group=[4])
    )
    booster.params |= network
    q = queries_of(booster.train_set)
    with pytest.raises(ValueError, match="no worker has all of them"):
        scaled = Scorecard((RankNet(), LambdaRank()), Scaled((0.5, 0.5)))
        refuse_traps(Case(booster, lightgbm, booster.params, scaled, None, q, 0, 1.0))
