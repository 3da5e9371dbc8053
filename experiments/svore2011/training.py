"""One run on either engine: train, validate at checkpoints, score the test part at the best one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from experiments.common.data import Data, Fold
from experiments.svore2011.settings import SELECTED_BY, Setting, Trial
from lambdaboost.datasets import Collection
from lambdaboost.lightgbm import Dataset
from lambdaboost.lightgbm import train as train_lightgbm
from lambdaboost.xgboost import DMatrix
from lambdaboost.xgboost import train as train_xgboost

# XGBoost limits the curvature of a leaf; LambdaRank's is about 1/20 per document at first.
CURVATURE = 1 / 20
Scores = Callable[[Collection], Callable[[int, int], NDArray[np.float64]]]


@dataclass(frozen=True)
class Model:
    """A trained booster: its number of trees, and a function for the sum of trees first:last."""

    n_trees: int
    scores: Scores


def training_data(engine: str, collection: Collection) -> Any:
    """The engine's training data with all click labels, for one thread."""
    q = collection.queries
    sources = {name: labels for name, labels in q.labels.items() if name != "relevance"} or None
    if engine == "xgboost":
        return DMatrix(collection.features, q.relevance, group=q.sizes, sources=sources, nthread=1)
    # Runs of all leaf sizes share the data, so features must not be filtered by leaf size.
    params = {"verbosity": -1, "feature_pre_filter": False, "num_threads": 1, "force_row_wise": True}
    return Dataset(collection.features, q.relevance, group=q.sizes, sources=sources, params=params)


def train(trial: Trial, setting: Setting, data: Any, recorders: Sequence[Any] = ()) -> Model:
    """Train a model for all rounds, with `recorders` of `lambdaboost.diagnostics` as callbacks."""
    return (_lightgbm if setting.engine == "lightgbm" else _xgboost)(trial, setting, data, recorders)


def _lightgbm(trial: Trial, setting: Setting, data: Any, recorders: Sequence[Any]) -> Model:
    params = {
        "verbosity": -1,
        "feature_pre_filter": False,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "seed": setting.seed,
        "metric": "None",
        "num_leaves": setting.num_leaves,
        "learning_rate": trial.rate,
        "min_data_in_leaf": trial.documents,
    }
    if trial.objective is None:
        booster = lgb.train(params | {"objective": "lambdarank"}, data, setting.rounds)
    else:
        booster = train_lightgbm(
            params,
            data,
            setting.rounds,
            objective=trial.objective,
            leaves=trial.leaves,
            callbacks=recorders,
        )

    def scores(collection: Collection) -> Callable[[int, int], NDArray[np.float64]]:
        def of_trees(first: int, last: int) -> NDArray[np.float64]:
            some = {"start_iteration": first, "num_iteration": last - first, "num_threads": 1}
            return np.asarray(booster.predict(collection.features, raw_score=True, **some))

        return of_trees

    return Model(booster.current_iteration(), scores)


def _xgboost(trial: Trial, setting: Setting, data: Any, recorders: Sequence[Any]) -> Model:
    per_document = 1 if trial.leaves == "gradient" else CURVATURE
    params = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": setting.num_leaves,
        "eta": trial.rate,
        "lambda": 0,
        "nthread": 1,
        "seed": setting.seed,
        "verbosity": 0,
        "min_child_weight": 0 if trial.documents is None else trial.documents * per_document,
    }
    if trial.objective is None:
        own = {"objective": "rank:ndcg", "disable_default_eval_metric": True}
        booster = xgb.train(params | own, data, setting.rounds, verbose_eval=False)
    else:
        booster = train_xgboost(
            params,
            data,
            setting.rounds,
            objective=trial.objective,
            leaves=trial.leaves,
            callbacks=[recorder.xgboost() for recorder in recorders],
            verbose_eval=False,
        )

    def scores(collection: Collection) -> Callable[[int, int], NDArray[np.float64]]:
        # Without a base margin each call would add the intercept again.
        margin = [0.0] * collection.queries.n_documents
        matrix = xgb.DMatrix(collection.features, base_margin=margin, nthread=1)
        return lambda first, last: np.asarray(
            booster.predict(matrix, output_margin=True, iteration_range=(first, last)), dtype=np.float64
        )

    return Model(booster.num_boosted_rounds(), scores)


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
        train_data, valid, test = self._prepared(trial)
        started = perf_counter()
        model = train(trial, self.setting, train_data)
        # There may be fewer trees than rounds, since LightGBM drops trees without a split.
        rounds = np.unique(np.minimum(checkpoints(self.setting), max(1, model.n_trees)))
        of_trees, scores, figures = model.scores(valid), np.zeros(valid.queries.n_documents), []
        for first, last in zip((0, *rounds), rounds, strict=False):  # each tree is scored once
            scores += of_trees(int(first), int(last))
            figures.append(SELECTED_BY(scores, valid.queries))
        test_scores = model.scores(test)(0, int(rounds[np.argmax(figures)]))
        seconds = perf_counter() - started
        return {"rounds": rounds, "valid": np.array(figures), "test_scores": test_scores, "seconds": seconds}

    def _prepared(self, trial: Trial) -> tuple[Any, Collection, Collection]:
        key = trial.fold, trial.share
        if self._kept is None or self._kept[0] != key:
            self._kept = None  # frees memory before the next one is made
            collection = self.data.training(trial.fold, trial.share, self.setting.seed)
            made = training_data(self.setting.engine, collection)
            self._kept = key, (made, self.data.joined(trial.fold.valid), self.data.joined(trial.fold.test))
        return self._kept[1]


def checkpoints(setting: Setting) -> NDArray[np.int64]:
    """Rounds after which a model is validated: every `setting.every` rounds, and the last."""
    return np.unique([*range(setting.every, setting.rounds + 1, setting.every), setting.rounds])
