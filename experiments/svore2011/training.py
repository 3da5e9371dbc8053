"""One run on either engine: train, validate at checkpoints, score the test part at the best one."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from experiments.common.data import Data, Fold
from experiments.svore2011 import mart
from experiments.svore2011.recorder import rounds_of
from experiments.svore2011.settings import SELECTED_BY, Setting, Trial
from lambdaboost import GradientStep, attach
from lambdaboost.datasets import Collection

# XGBoost limits the curvature of a leaf; LambdaRank's is about 1/20 per document at first.
CURVATURE = 1 / 20


def training_data(engine: str, collection: Collection) -> Any:
    """The engine's training data with all click labels, for one thread."""
    q = collection.queries
    if engine == "xgboost":
        return attach(xgb.DMatrix(collection.features, q.relevance, group=q.sizes, nthread=1), **q.labels)
    # Runs of all leaf sizes share the data, so features must not be filtered by leaf size.
    params = {"verbosity": -1, "feature_pre_filter": False, "num_threads": 1, "force_row_wise": True}
    return attach(lgb.Dataset(collection.features, q.relevance, group=q.sizes, params=params), **q.labels)


def train(trial: Trial, setting: Setting, data: Any, collection: Collection) -> Any:
    """Train a booster for all rounds on `data`, which hold the rows of `collection`."""
    return (_lightgbm if setting.engine == "lightgbm" else _xgboost)(trial, setting, data, collection)


def _lightgbm(trial: Trial, setting: Setting, data: Any, collection: Collection) -> lgb.Booster:
    rounds, objective = setting.rounds, trial.objective
    params = {
        "verbosity": -1,
        "feature_pre_filter": False,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "seed": setting.seed,
        "metric": "None",
        "num_leaves": setting.num_leaves,
        "min_data_in_leaf": trial.documents,
    }
    if objective is not None and trial.leaves == "newton":
        return mart.train_lightgbm(
            params, data, collection.features, collection.queries, objective, rounds, trial.rate
        )
    params["learning_rate"] = trial.rate
    if objective is None:
        return lgb.train(params | {"objective": "lambdarank"}, data, rounds)
    return lgb.train(params | {"objective": _stepped(objective, trial)}, data, rounds)


def _xgboost(trial: Trial, setting: Setting, data: Any, collection: Collection) -> xgb.Booster:
    rounds, objective = setting.rounds, trial.objective
    params = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": setting.num_leaves,
        "nthread": 1,
        "seed": setting.seed,
        "verbosity": 0,
    }
    if objective is not None and trial.leaves == "newton":
        params["min_child_weight"] = trial.documents
        return mart.train_xgboost(params, data, collection.queries, objective, rounds, trial.rate)
    per_document = 1 if trial.leaves == "gradient" else CURVATURE
    params |= {"eta": trial.rate, "lambda": 0, "min_child_weight": trial.documents * per_document}
    if objective is None:
        own = {"objective": "rank:ndcg", "disable_default_eval_metric": True}
        return xgb.train(params | own, data, rounds, verbose_eval=False)
    own = {"objective": "rank:ndcg", "base_score": 0.0, "disable_default_eval_metric": True}
    return xgb.train(params | own, data, rounds, obj=_stepped(objective, trial), verbose_eval=False)


def _stepped(objective: Any, trial: Trial) -> Any:
    """The objective of a trial, with gradient leaves if it has them."""
    is_step = isinstance(objective, GradientStep)
    return GradientStep(objective) if trial.leaves == "gradient" and not is_step else objective


@dataclass
class Trainer:
    """Runs trials on one data set; caches the engine's data set of the last fold."""

    data: Data
    setting: Setting
    _kept: tuple[tuple[Fold, float], Any] | None = field(default=None, repr=False)

    def __call__(self, trial: Trial) -> dict[str, Any]:
        """Train, validate at checkpoints, and score the test part at the best one.

        `rounds` and `valid` are the checkpoints and their mean NDCG@3 on validation queries; `test_scores` are the
        scores at the best checkpoint, the first among ties.
        """
        train_data, collection, valid, test = self._prepared(trial)
        started = perf_counter()
        booster = train(trial, self.setting, train_data, collection)
        n_trees, of_trees = rounds_of(booster, valid.features)
        # There may be fewer trees than rounds, since LightGBM drops trees without a split.
        rounds = np.unique(np.minimum(checkpoints(self.setting), max(1, n_trees)))
        scores, figures = np.zeros(valid.queries.n_documents), []
        for first, last in zip((0, *rounds), rounds, strict=False):  # each tree is scored once
            scores += of_trees(int(first), int(last))
            figures.append(SELECTED_BY(scores, valid.queries))
        test_scores = rounds_of(booster, test.features)[1](0, int(rounds[np.argmax(figures)]))
        seconds = perf_counter() - started
        return {"rounds": rounds, "valid": np.array(figures), "test_scores": test_scores, "seconds": seconds}

    def _prepared(self, trial: Trial) -> tuple[Any, Collection, Collection, Collection]:
        key = trial.fold, trial.share
        if self._kept is None or self._kept[0] != key:
            self._kept = None  # frees memory before the next one is made
            collection = self.data.training(trial.fold, trial.share, self.setting.seed)
            made = training_data(self.setting.engine, collection)
            valid, test = self.data.joined(trial.fold.valid), self.data.joined(trial.fold.test)
            self._kept = key, (made, collection, valid, test)
        return self._kept[1]


def checkpoints(setting: Setting) -> NDArray[np.int64]:
    """Rounds after which a model is validated: every `setting.every` rounds, and the last."""
    return np.unique([*range(setting.every, setting.rounds + 1, setting.every), setting.rounds])
