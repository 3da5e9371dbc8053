"""Rankers trained on the sessions of a log, one for each remedy against position bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from lambdaboost import InversePropensity, LambdaRank, PositionGAM, UnbiasedLambdaRank
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Collection
from lambdaboost.lightgbm import Dataset, train
from lambdaboost.objectives import Objective

ROUNDS, RATE, LEAVES = 100, 0.1, 15
CLIP = 20.0
LIGHTGBM = {
    "verbosity": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "learning_rate": RATE,
    "num_leaves": LEAVES,
    "metric": "None",
}
XGBOOST = {
    "verbosity": 0,
    "nthread": 1,
    "tree_method": "hist",
    "grow_policy": "lossguide",
    "max_depth": 0,
    "max_leaves": LEAVES,
    "eta": RATE,
    "disable_default_eval_metric": True,
}

NAIVE, IPS = "clicks as labels", "InversePropensity, "
TRUE, SWAPS, HARVESTED, EM = "true curve", "swap experiment", "harvested", "regression EM"
UNBIASED, GAM = "UnbiasedLambdaRank", "PositionGAM"
LIGHTGBM_OWN, XGBOOST_OWN = "LightGBM's position", "XGBoost's lambdarank_unbiased"
CEILING, PRODUCTION = "all grades", "production"
ESTIMATED = (IPS + SWAPS, IPS + HARVESTED, IPS + EM, UNBIASED, GAM)
ENGINES = (LIGHTGBM_OWN, XGBOOST_OWN)

Scores = NDArray[np.float64]


def by_remedy(
    sessions: Collection, curves: Mapping[str, Propensities], whole: Collection, test: Collection
) -> dict[str, Scores]:
    """Scores of the test documents by every ranker; `whole` has the grades that the others do not see."""
    X = test.features
    data = session_data(sessions)
    naive = session_data(sessions, positions=False)
    scores = {NAIVE: predicted(LambdaRank(), naive, X)}
    objectives: dict[str, Objective] = {}
    for name, curve in curves.items():
        objectives[IPS + name] = InversePropensity(LambdaRank(), curve, clip=CLIP)
    objectives |= {UNBIASED: UnbiasedLambdaRank(), GAM: PositionGAM(LambdaRank())}
    scores |= {name: predicted(objective, data, X) for name, objective in objectives.items()}
    own = lgb.train(LIGHTGBM | {"objective": "lambdarank"}, data, ROUNDS)
    scores[LIGHTGBM_OWN] = own.predict(X, raw_score=True)
    scores[XGBOOST_OWN] = _xgboost(sessions, X)
    scores[CEILING] = predicted(LambdaRank(), session_data(whole), X)
    return scores


def session_data(collection: Collection, positions: bool = True) -> Dataset:
    """LightGBM's training data with every label source, and with positions where there are any."""
    q = collection.queries
    sources = {name: labels for name, labels in q.labels.items() if name != "relevance"}
    position = q.position if positions else None
    return Dataset(
        collection.features,
        q.relevance,
        group=q.sizes,
        position=position,
        sources=sources or None,
        params=LIGHTGBM,
        free_raw_data=False,
    )


def predicted(objective: Objective, data: Dataset, X: Any, **settings: Any) -> Scores:
    """Scores of test documents by a ranker trained with an objective."""
    booster = train(LIGHTGBM, data, ROUNDS, objective=objective, **settings)
    return np.asarray(booster.predict(X, raw_score=True, num_threads=1))


def _xgboost(sessions: Collection, X: Any) -> Scores:
    q = sessions.queries
    # Documents come in the order in which they were shown, as XGBoost requires.
    data = xgb.QuantileDMatrix(sessions.features, q.relevance, group=q.sizes, nthread=1)
    params = XGBOOST | {"objective": "rank:ndcg", "lambdarank_unbiased": True}
    booster = xgb.train(params, data, ROUNDS)
    return np.asarray(booster.predict(xgb.DMatrix(X, nthread=1), output_margin=True), dtype=np.float64)
