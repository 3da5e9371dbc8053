"""One training on LightGBM, and the cost of its gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from experiments.several_goals.sets import Goals, Parts
from lambdaboost import Constrained, attach
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
REPEATS = 3  # of a timed gradient; the fastest counts

Scores = NDArray[np.float64]


def data_of(collection: Collection) -> lgb.Dataset:
    """LightGBM's training data with every label source."""
    q = collection.queries
    data = lgb.Dataset(collection.features, q.relevance, group=q.sizes, params=PARAMS, free_raw_data=False)
    return attach(data, **q.labels)


def booster_of(objective: Objective, data: lgb.Dataset, rounds: int) -> tuple[Any, float]:
    """A booster, and the processor seconds of its training, those of a reference model included."""
    with warnings.catch_warnings():  # a promise that is broken on the training data is in the tables
        warnings.simplefilter("ignore", UserWarning)
        began = process_time()
        if isinstance(objective, Constrained):
            objective = replace(objective, reference=reference_of(objective, data, rounds))
        booster = lgb.train({**PARAMS, "objective": objective}, data, rounds)
    return booster, process_time() - began


def reference_of(objective: Constrained, data: lgb.Dataset, rounds: int) -> tuple[float, ...]:
    """What is kept, after each round of a training of the primary objective alone."""
    history: dict[str, dict[str, list[float]]] = {}
    params = {**PARAMS, "objective": objective.primary}
    record = [lgb.record_evaluation(history)]
    lgb.train(params, data, rounds, valid_sets=[data], feval=objective.kept, callbacks=record)
    (curve,) = history["training"].values()
    return tuple(curve)


def figures(scores: Scores, goals: Goals, part: Collection) -> Scores:
    """Both measures of each query, (2, n_queries)."""
    return np.array([measure.per_query(scores, part.queries) for measure in goals.measures])


def outcome(name: str, predict: Callable[[Any], Scores], goals: Goals, parts: Parts) -> dict[str, Scores]:
    """What is kept of a system: the figures of validation and test queries."""
    return {
        f"{name} valid": figures(predict(parts.valid.features), goals, parts.valid),
        f"{name} test": figures(predict(parts.test.features), goals, parts.test),
    }


def predictor(booster: Any) -> Callable[[Any], Scores]:
    """The raw scores of a booster by features."""
    return lambda features: np.asarray(booster.predict(features, raw_score=True, num_threads=1))


@dataclass(frozen=True)
class Timed:
    """Processor seconds of one gradient of an objective, and of its parts alone."""

    whole: float
    parts: float


def gradient_seconds(
    objective: Objective, parts: Sequence[Objective], scores: Scores, collection: Collection, rounds: int
) -> Timed:
    """The fastest of some gradients, taken in turn so that other load on the machine affects all alike."""
    if isinstance(objective, Constrained):
        objective = replace(objective, reference=(1.0,) * rounds)
    found: dict[Objective, float] = dict.fromkeys((objective, *parts), float("inf"))
    for _ in range(REPEATS):
        for one in found:
            began = process_time()
            one.lambdas(scores, collection.queries, rounds - 1)
            found[one] = min(found[one], process_time() - began)
    return Timed(found[objective], sum(found[part] for part in parts))


def run(
    systems: Mapping[str, Objective], goals: Goals, parts: Parts, data: lgb.Dataset, rounds: int
) -> dict[str, Scores]:
    """Train and measure each system."""
    kept: dict[str, Scores] = {}
    for name, objective in systems.items():
        booster, seconds = booster_of(objective, data, rounds)
        scores = predictor(booster)(parts.train.features)
        timed = gradient_seconds(objective, goals.objectives, scores, parts.train, rounds)
        kept |= outcome(name, predictor(booster), goals, parts)
        kept[f"{name} seconds"] = np.array([seconds, timed.whole, timed.parts])
    return kept
