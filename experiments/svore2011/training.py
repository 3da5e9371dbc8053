"""One run on either engine: train, validate along the path, score the test part at the best checkpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.evaluation import NDCG
from lambdaboost.reproduce.data import Data, Fold
from lambdaboost.reproduce.store import Outcome
from lambdaboost.reproduce.trial import Setting, Trial

SELECTED_BY = NDCG(3)
# XGBoost counts curvature in a leaf where splits are its own, and LambdaRank's is some 1/20 a document at first.
CURVATURE = 1 / 20


class EngineRuns(ABC):
    """How one engine trains a trial and scores by some of its trees; one thread, for equal results everywhere."""

    @abstractmethod
    def data(self, collection: Collection) -> Any:
        """Training data."""

    @abstractmethod
    def train(self, trial: Trial, setting: Setting, data: Any, callbacks: Sequence[Any] = ()) -> Any:
        """A booster of all rounds."""

    @abstractmethod
    def matrix(self, collection: Collection) -> Any:
        """What `scores` reads."""

    @abstractmethod
    def scores(self, booster: Any, matrix: Any, first: int, last: int) -> NDArray[np.float64]:
        """What trees first:last add to each document's score, up to a constant."""

    @abstractmethod
    def n_trees(self, booster: Any) -> int:
        """Trees of a booster."""

    @abstractmethod
    def callback(self, recorder: Any) -> Any:
        """A recorder of `lambdaboost.diagnostics` as the engine's callback."""


class LightGBMRuns(EngineRuns):
    """Runs on stock LightGBM."""

    def data(self, collection: Collection) -> Any:
        """A `lambdaboost.lightgbm.Dataset` with all click labels."""
        from lambdaboost.lightgbm import Dataset

        q = collection.queries
        # Runs with other leaf sizes share the data set, so no feature may be filtered out by leaf size.
        params = {"verbosity": -1, "feature_pre_filter": False, "num_threads": 1, "force_row_wise": True}
        return Dataset(
            collection.features, q.relevance, group=q.sizes, sources=_sources(collection), params=params
        )

    def train(self, trial: Trial, setting: Setting, data: Any, callbacks: Sequence[Any] = ()) -> Any:
        """A booster of all rounds."""
        import lightgbm as lgb

        from lambdaboost.lightgbm import train

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
            own = {**params, "objective": "lambdarank"}
            return lgb.train(own, data, setting.rounds, callbacks=list(callbacks))
        return train(
            params, data, setting.rounds, objective=trial.objective, leaves=trial.leaves, callbacks=callbacks
        )

    def matrix(self, collection: Collection) -> Any:
        """What `scores` reads."""
        return collection.features

    def scores(self, booster: Any, matrix: Any, first: int, last: int) -> NDArray[np.float64]:
        """What trees first:last add to each document's score."""
        some = {"start_iteration": first, "num_iteration": last - first}
        return np.asarray(booster.predict(matrix, raw_score=True, num_threads=1, **some))

    def n_trees(self, booster: Any) -> int:
        """Trees with a split."""
        return int(booster.current_iteration())

    def callback(self, recorder: Any) -> Any:
        """The recorder as this engine's callback."""
        return recorder


class XGBoostRuns(EngineRuns):
    """Runs on stock XGBoost."""

    def data(self, collection: Collection) -> Any:
        """A `lambdaboost.xgboost.DMatrix` with all click labels."""
        from lambdaboost.xgboost import DMatrix

        q = collection.queries
        return DMatrix(
            collection.features, q.relevance, group=q.sizes, sources=_sources(collection) or None, nthread=1
        )

    def train(self, trial: Trial, setting: Setting, data: Any, callbacks: Sequence[Any] = ()) -> Any:
        """A booster of all rounds."""
        import xgboost as xgb

        from lambdaboost.xgboost import train

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
            "min_child_weight": self._least_weight(trial),
        }
        if trial.objective is None:
            own = {**params, "objective": "rank:ndcg", "disable_default_eval_metric": True}
            return xgb.train(own, data, setting.rounds, callbacks=list(callbacks), verbose_eval=False)
        return train(
            params,
            data,
            setting.rounds,
            objective=trial.objective,
            leaves=trial.leaves,
            callbacks=list(callbacks),
            verbose_eval=False,
        )

    @staticmethod
    def _least_weight(trial: Trial) -> float:
        if trial.documents is None:
            return 0
        return trial.documents * (1 if trial.leaves == "gradient" else CURVATURE)

    def matrix(self, collection: Collection) -> Any:
        """What `scores` reads."""
        import xgboost as xgb

        # Without a margin each call would add the intercept again.
        return xgb.DMatrix(collection.features, base_margin=[0.0] * collection.queries.n_documents, nthread=1)

    def scores(self, booster: Any, matrix: Any, first: int, last: int) -> NDArray[np.float64]:
        """What trees first:last add to each document's score."""
        some = booster.predict(matrix, output_margin=True, iteration_range=(first, last))
        return np.asarray(some, dtype=np.float64)

    def n_trees(self, booster: Any) -> int:
        """Trees, of which some may have no split."""
        return int(booster.num_boosted_rounds())

    def callback(self, recorder: Any) -> Any:
        """The recorder as this engine's callback."""
        return recorder.xgboost()


RUNS: dict[str, EngineRuns] = {"lightgbm": LightGBMRuns(), "xgboost": XGBoostRuns()}


@dataclass
class Trainer:
    """Runs trials on one data set; keeps what the engine made of the fold that it was asked for last."""

    data: Data
    setting: Setting
    _kept: tuple[tuple[Fold, float], Any] | None = field(default=None, repr=False)

    def run(self, trial: Trial) -> Outcome:
        """Train, validate every so many rounds, and score the test part at the best of these."""
        runs = RUNS[self.setting.engine]
        train, valid, test = self._prepared(trial)
        started = perf_counter()
        booster = runs.train(trial, self.setting, train)
        rounds, figures = self._path(runs, booster, valid)
        best = int(rounds[figures.argmax()])
        scores = runs.scores(booster, runs.matrix(test), 0, best)
        return Outcome(rounds, figures, scores, perf_counter() - started)

    def _path(
        self, runs: EngineRuns, booster: Any, valid: Collection
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Checkpoints, and the validation figure at each; block by block, so that each tree is scored once."""
        # LightGBM drops trees without a split, so there may be fewer trees than rounds.
        rounds = np.unique(np.minimum(checkpoints(self.setting), max(1, runs.n_trees(booster))))
        matrix, scores = runs.matrix(valid), np.zeros(valid.queries.n_documents)
        figures = np.empty(rounds.size)
        for at, last in enumerate(rounds):
            scores += runs.scores(booster, matrix, int(rounds[at - 1]) if at else 0, int(last))
            figures[at] = SELECTED_BY(scores, valid.queries)
        return rounds, figures

    def _prepared(self, trial: Trial) -> tuple[Any, Collection, Collection]:
        key = trial.fold, trial.share
        if self._kept is None or self._kept[0] != key:
            self._kept = None  # before the next is made
            train = self.data.training(trial.fold, trial.share, self.setting.seed)
            made = RUNS[self.setting.engine].data(train)
            self._kept = key, (made, self.data.joined(trial.fold.valid), self.data.joined(trial.fold.test))
        return self._kept[1]


def checkpoints(setting: Setting) -> NDArray[np.int64]:
    """Rounds after which a model is validated: every so many, and the last."""
    return np.unique([*range(setting.every, setting.rounds + 1, setting.every), setting.rounds])


def _sources(collection: Collection) -> dict[str, Any]:
    return {name: labels for name, labels in collection.queries.labels.items() if name != "relevance"}
