"""Rankers trained on the sessions of a log, one for each correction of position bias."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from experiments.clicks.position_gam import PositionGAM
from experiments.clicks.unbiased_lambdarank import UnbiasedLambdaRank
from lambdaboost import CNDCG, InversePropensity, LambdaRank, Queries, attach
from lambdaboost.clicks import ClickLog, Propensities
from lambdaboost.datasets import Collection
from lambdaboost.objectives import Objective

RATE, LEAVES = 0.1, 15
CLIP = 20.0
# What training warns of where a few queries have grades, or a single one, which can be too small for any split.
FEW_GRADES = ("no tree can have a split", ".* has no pair of documents", "relevance: more than nine in ten")
PRIOR = (1.0, 9.0)  # of rates: one click in ten looks, as a document of the worst grade has
LIGHTGBM = {
    "verbosity": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "learning_rate": RATE,
    "num_leaves": LEAVES,
    "metric": "None",
    "feature_pre_filter": False,  # LightGBM fails on few documents, of which no feature can split enough
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

NAIVE, RATES = "clicks as labels", "click rates as labels"
IPS, DEBIASED = "InversePropensity, ", "debiased rates, "
TRUE, SWAPS, HARVESTED, EM = "true curve", "swap experiment", "harvested", "regression EM"
UNBIASED, GAM = "UnbiasedLambdaRank", "PositionGAM"
LIGHTGBM_OWN, XGBOOST_OWN = "LightGBM's position", "XGBoost's lambdarank_unbiased"
CEILING, PRODUCTION = "all grades", "production"
ESTIMATED = (IPS + SWAPS, IPS + HARVESTED, IPS + EM, UNBIASED, GAM, DEBIASED + HARVESTED)
ENGINES = (LIGHTGBM_OWN, XGBOOST_OWN)

Scores = NDArray[np.float64]


def by_remedy(
    log: ClickLog,
    sessions: Collection,
    curves: Mapping[str, Propensities],
    training: Collection,
    test: Collection,
    rounds: int,
) -> dict[str, Scores]:
    """Scores of the test documents by every ranker; only the last sees the grades of `training`."""
    X = test.features
    data = session_data(sessions)
    naive = session_data(sessions, positions=False)
    scores = {NAIVE: predicted(LambdaRank(), naive, X, rounds)}
    objectives: dict[str, Objective] = {}
    for name, curve in curves.items():
        objectives[IPS + name] = InversePropensity(LambdaRank(), curve, clip=CLIP)
    objectives |= {UNBIASED: UnbiasedLambdaRank(), GAM: PositionGAM(LambdaRank())}
    scores |= {name: predicted(objective, data, X, rounds) for name, objective in objectives.items()}
    own = lgb.train(LIGHTGBM | {"objective": "lambdarank"}, data, rounds)
    scores[LIGHTGBM_OWN] = own.predict(X, raw_score=True)
    scores[XGBOOST_OWN] = _xgboost(sessions, X, rounds)
    scores[RATES] = by_rates(log, None, training, X, rounds)
    scores[DEBIASED + HARVESTED] = by_rates(log, curves[HARVESTED], training, X, rounds)
    scores[CEILING] = predicted(LambdaRank(), session_data(training), X, rounds)
    return scores


def rates(log: ClickLog, curve: Propensities | None, q: Queries) -> Scores:
    """The smoothed click rate of every training document, per look if a curve is given; NaN if never shown."""
    return log.labels(q.query_of_row, np.arange(q.n_documents), PRIOR, curve)


def by_rates(log: ClickLog, curve: Propensities | None, training: Collection, X: Any, rounds: int) -> Scores:
    """Scores of the test documents by a ranker of click rates."""
    q = training.queries
    labels = Queries(np.zeros(q.n_documents), q.sizes, clicks=rates(log, curve, q))
    data = session_data(Collection(training.features, labels))
    return predicted(LambdaRank(CNDCG(source="clicks")), data, X, rounds)


def session_data(collection: Collection, positions: bool = True) -> lgb.Dataset:
    """LightGBM's training data with every label source, and with positions where there are any."""
    q = collection.queries
    # LightGBM's own lambdarank reads its own field.
    own = {"params": LIGHTGBM, "free_raw_data": False, "position": q.position if positions else None}
    data = lgb.Dataset(collection.features, q.relevance, group=q.sizes, **own)
    return attach(data, position=q.positions if positions else None, **q.labels)


def predicted(objective: Objective, data: lgb.Dataset, X: Any, rounds: int) -> Scores:
    """Scores of test documents by a ranker trained with an objective."""
    with warnings.catch_warnings():
        for text in FEW_GRADES:
            warnings.filterwarnings("ignore", text)
        booster = lgb.train({**LIGHTGBM, "objective": objective}, data, rounds)
    return np.asarray(booster.predict(X, raw_score=True, num_threads=1))


def _xgboost(sessions: Collection, X: Any, rounds: int) -> Scores:
    q = sessions.queries
    # Documents come in the order in which they were shown, as XGBoost requires.
    data = xgb.QuantileDMatrix(sessions.features, q.relevance, group=q.sizes, nthread=1)
    params = XGBOOST | {"objective": "rank:ndcg", "lambdarank_unbiased": True}
    booster = xgb.train(params, data, rounds)
    return np.asarray(booster.predict(xgb.DMatrix(X, nthread=1), output_margin=True), dtype=np.float64)
