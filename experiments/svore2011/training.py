"""One run: train, validate at checkpoints, score the test part at the best one."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import NamedTuple

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from experiments.common.data import Data
from experiments.svore2011.mart import train_mart
from experiments.svore2011.recorder import rounds_of
from experiments.svore2011.settings import SELECTED_BY, Setting, Trial
from lambdaboost import attach
from lambdaboost.datasets import Collection


class Outcome(NamedTuple):
    """What `train_trials` finds."""

    rounds: NDArray[np.int64]
    valid: NDArray[np.float64]
    test_scores: NDArray[np.float64]
    seconds: float


def training_data(collection: Collection) -> lgb.Dataset:
    """LightGBM's training data with all click labels, for one thread."""
    q = collection.queries
    # Runs of all leaf sizes share the data, so features must not be filtered by leaf size.
    params = {"verbosity": -1, "feature_pre_filter": False, "num_threads": 1, "force_row_wise": True}
    return attach(lgb.Dataset(collection.features, q.relevance, group=q.sizes, params=params), **q.labels)


def train(trial: Trial, setting: Setting, data: lgb.Dataset, collection: Collection) -> lgb.Booster:
    """Train a booster for all rounds on `data`, which hold the rows of `collection`."""
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
    if trial.by_mart:
        assert objective is not None
        return train_mart(
            params, data, collection.features, collection.queries, objective, rounds, trial.rate
        )
    return lgb.train(
        params | {"learning_rate": trial.rate, "objective": objective or "lambdarank"}, data, rounds
    )


def train_trials(data: Data, setting: Setting, trials: Sequence[Trial]) -> list[Outcome]:
    """Train trials of one fold and share of the data: validate at checkpoints, score the test part at the best one.

    `rounds` and `valid` are the checkpoints and their mean NDCG@3 on validation queries; `test_scores` are the scores
    at the best checkpoint, the first among ties.
    """
    fold = trials[0].fold
    collection = data.training(fold, trials[0].share, setting.seed)
    train_data = training_data(collection)
    valid, test = data.joined(fold.valid), data.joined(fold.test)
    outcomes = []
    for trial in trials:
        started = process_time()
        booster = train(trial, setting, train_data, collection)
        n_trees, of_trees = rounds_of(booster, valid.features)
        # Every some rounds, and the last. There may be fewer trees, since LightGBM drops trees without a split.
        rounds = np.array([*range(setting.every, setting.rounds, setting.every), setting.rounds])
        rounds = np.unique(np.minimum(rounds, max(1, n_trees)))
        scores, figures = np.zeros(valid.queries.n_documents), []
        for first, last in zip((0, *rounds), rounds, strict=False):  # each tree is scored once
            scores += of_trees(int(first), int(last))
            figures.append(SELECTED_BY(scores, valid.queries))
        test_scores = rounds_of(booster, test.features)[1](0, int(rounds[np.argmax(figures)]))
        outcomes.append(Outcome(rounds, np.array(figures), test_scores, process_time() - started))
    return outcomes
