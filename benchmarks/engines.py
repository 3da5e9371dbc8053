"""Training on each engine with the same parameters: 31 leaves, learning rate 0.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.native_rules import LightGBMRule, XGBoostRule
from benchmarks.replay import Recorder, Replay, Round
from lambdaboost.datasets import Collection

LEAVES = 31
# Copies of the engines' own objectives, by which a training can be replayed.
RULES = {"lightgbm": LightGBMRule, "xgboost": XGBoostRule}


@dataclass(frozen=True, eq=False)
class Engine:
    """An engine with its data set.

    Attributes
    ----------
    name : str
    native : str
        Its own objective.
    train : callable
        ``train(objective, rounds, truncation=None)`` → booster; an objective of None is the engine's own.
    scores : callable
        ``scores(booster)`` on the training data.

    """

    name: str
    native: str
    train: Callable[..., Any]
    scores: Callable[[Any], NDArray[Any]]

    def record(self, truncation: int, rounds: int) -> list[Round]:
        """The rounds of a training with lambdaboost's bit-identical copy of the engine's own objective."""
        recorder = Recorder(RULES[self.name](truncation=truncation))
        self.train(recorder, rounds)
        return recorder.rounds

    def strays(self, recorded: list[Round], truncation: int) -> float:
        """The largest difference of final scores between replay and native training; 0 if the trees are equal."""
        rounds = len(recorded)
        native = self.scores(self.train(None, rounds, truncation))
        replayed = self.scores(self.train(Replay(recorded), rounds))
        return float(np.abs(native - replayed).max())


def lightgbm(data: Collection, threads: int) -> Engine:
    """LightGBM with `data`."""
    import lightgbm as lgb

    dataset = lgb.Dataset(
        data.features,
        data.queries.relevance,
        group=data.queries.sizes,
        free_raw_data=False,
        params={"verbose": -1},
    ).construct()
    params = {
        "num_leaves": LEAVES,
        "learning_rate": 0.1,
        "num_threads": threads,
        "verbose": -1,
        "metric": "None",
    }

    def train(objective: Any, rounds: int, truncation: int | None = None) -> Any:
        own = {"objective": "lambdarank", "lambdarank_truncation_level": truncation or 30}
        given = params | (own if objective is None else {"objective": objective})
        return lgb.train(given, dataset, rounds)

    return Engine("lightgbm", "lambdarank", train, lambda booster: booster.predict(data.features))


def xgboost(data: Collection, threads: int) -> Engine:
    """XGBoost with `data`."""
    import xgboost as xgb

    q = data.queries
    matrix = xgb.QuantileDMatrix(data.features, q.relevance, group=q.sizes, nthread=threads)
    params = {
        "objective": "rank:ndcg",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": 0,
        "learning_rate": 0.1,
        "base_score": 0,
        "nthread": threads,
        "disable_default_eval_metric": True,
    }

    def train(objective: Any, rounds: int, truncation: int | None = None) -> Any:
        own = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": truncation or 32}
        given: dict[str, Any] = params | (own if objective is None else {})
        return xgb.train(given, matrix, rounds, obj=objective)

    return Engine("xgboost", "rank:ndcg", train, lambda booster: booster.predict(matrix, output_margin=True))


ENGINES: dict[str, Callable[[Collection, int], Engine]] = {"LightGBM": lightgbm, "XGBoost": xgboost}
