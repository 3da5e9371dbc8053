"""One part of the systems on one fold of a data set, trained by LightGBM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from experiments.several_goals import methods
from experiments.several_goals.combiners import Combined, FromSources, draw_preferences
from experiments.several_goals.sets import SECOND, Goals, Parts, known
from lambdaboost import Constrained, Queries, attach
from lambdaboost.datasets import Collection
from lambdaboost.objectives import Objective

ROUNDS = 50
PARAMS = {
    "verbosity": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "learning_rate": 0.1,
    "num_leaves": 15,
    "metric": "None",
}
PREFERENCES = ("to_first", "to_second")  # the label sources of preferences
COPIES = 4  # of the training data of preferences as features, each with its own draw
CONDITIONED = "conditioned"
OBJECTIVES: Mapping[str, Callable[..., dict[str, Objective]]] = {
    "alone": methods.alone,
    "weighted": methods.weighted,
    "combined": methods.combined,
    "constrained": methods.constrained,
}
PARTS = (*OBJECTIVES, CONDITIONED)

Scores = NDArray[np.float64]
Outcome = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Task:
    """A data set, seed and fold, and the systems to train: one of `PARTS`."""

    data_set: str
    seed: int
    fold: int
    systems: str


def train_systems(folder: Path | None, scale: float, rounds: int, task: Task) -> Outcome:
    """Both measures of each test query by each system, (2, n), and the numbers of the test queries."""
    goals = known(folder, scale)[task.data_set]
    parts = goals.parts(task.seed, task.fold)
    found: Outcome = {"tested": parts.tested}
    if task.systems == CONDITIONED:
        return found | conditioned(goals, parts, task.seed, rounds)
    data = training_data(parts.train)
    for name, objective in OBJECTIVES[task.systems](goals, task.seed).items():
        found[name] = figures(train(objective, data, rounds), parts.test.features, goals, parts.test.queries)
    return found


def conditioned(goals: Goals, parts: Parts, seed: int, rounds: int) -> Outcome:
    """One model with preferences as features, read off at several."""
    q = parts.train.queries
    sizes = np.tile(q.sizes, COPIES)
    drawn = draw_preferences(sizes, 2, seed=seed)
    sources = dict(zip(PREFERENCES, drawn.T, strict=True)) | {SECOND: np.tile(q.labels[SECOND], COPIES)}
    features = np.column_stack([np.tile(parts.train.features, (COPIES, 1)), drawn])
    data = training_data(Collection(features, Queries(np.tile(q.relevance, COPIES), sizes, **sources)))
    booster = train(Combined(goals.objectives, FromSources(PREFERENCES)), data, rounds)
    found = {}
    for w in methods.READ_OFF:
        X = np.column_stack([parts.test.features, np.tile([1 - w, w], (parts.test.queries.n_documents, 1))])
        found[methods.named(methods.ONE_MODEL, w)] = figures(booster, X, goals, parts.test.queries)
    return found


def training_data(collection: Collection) -> lgb.Dataset:
    """LightGBM's training data with every label source."""
    q = collection.queries
    data = lgb.Dataset(collection.features, q.relevance, group=q.sizes, params=PARAMS, free_raw_data=False)
    return attach(data, **{name: labels for name, labels in q.labels.items() if name != "relevance"})


def train(objective: Objective, data: lgb.Dataset, rounds: int) -> lgb.Booster:
    """A booster; `Constrained` is given the reference of its primary objective first."""
    with warnings.catch_warnings():  # a promise that is broken on the training data shows in the tables
        warnings.simplefilter("ignore", UserWarning)
        if isinstance(objective, Constrained):
            objective = replace(objective, reference=reference_of(objective, data, rounds))
        return lgb.train({**PARAMS, "objective": objective}, data, rounds)


def reference_of(objective: Constrained, data: lgb.Dataset, rounds: int) -> tuple[float, ...]:
    """What is kept, after each round of a training of the primary objective alone."""
    history: dict[str, dict[str, list[float]]] = {}
    params = {**PARAMS, "objective": objective.primary}
    record = [lgb.record_evaluation(history)]
    lgb.train(params, data, rounds, valid_sets=[data], feval=objective.kept, callbacks=record)
    (curve,) = history["training"].values()
    return tuple(curve)


def figures(booster: Any, features: Any, goals: Goals, q: Queries) -> Scores:
    """Both measures of each query, (2, n_queries)."""
    scores = np.asarray(booster.predict(features, raw_score=True, num_threads=1))
    return np.array([measure.per_query(scores, q) for measure in goals.measures])
