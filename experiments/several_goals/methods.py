"""The systems of lambdaboost that are compared, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.several_goals.combiners import (
    Chebyshev,
    Combined,
    ExactPareto,
    FromSources,
    MinNorm,
    StochasticLabels,
    draw_preferences,
)
from experiments.several_goals.sets import SECOND, Goals, Parts
from experiments.several_goals.training import Scores, booster_of, data_of, outcome, predictor
from lambdaboost import Constrained, Queries, Scaled, Scorecard
from lambdaboost.datasets import Collection
from lambdaboost.objectives import Objective

WEIGHTS = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the second goal
READ_OFF = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)  # of the model with preferences as features
TOLERANCES = (0.005, 0.01)
COPIES = 4  # of its training data, each with its own draw of preferences

PREFERENCES = ("to_first", "to_second")  # their label sources
FIRST, SECOND_ALONE = "first goal alone", "second goal alone"
SUM, CONSTRAINED, ONE_MODEL, MIN_NORM = "weighted sum", "Constrained", "preferences as features", "MinNorm"
COMBINERS: dict[str, Callable[[tuple[Objective, ...], float, int], Objective]] = {
    "Scaled": lambda of, w, seed: Scorecard(of, Scaled((1 - w, w))),
    "StochasticLabels": lambda of, w, seed: Combined(of, StochasticLabels((1 - w, w), seed=seed)),
    "Chebyshev": lambda of, w, seed: Combined(of, Chebyshev((1 - w, w))),
    "ExactPareto": lambda of, w, seed: Combined(of, ExactPareto((1 - w, w))),
}


def named(method: str, setting: float | str = "") -> str:
    """The name of a system, such as ``"weighted sum, 0.3"``."""
    return f"{method}, {setting:g}" if isinstance(setting, float) else method


def alone(goals: Goals, seed: int) -> dict[str, Objective]:
    """Each goal alone."""
    return dict(zip((FIRST, SECOND_ALONE), goals.objectives, strict=True))


def weighted(goals: Goals, seed: int) -> dict[str, Objective]:
    """Sums with fixed weights."""
    return {named(SUM, w): Scorecard(goals.objectives, (1 - w, w)) for w in WEIGHTS}


def combined(goals: Goals, seed: int) -> dict[str, Objective]:
    """Every combiner at every weight, and the one without."""
    found: dict[str, Objective] = {
        named(name, w): made(goals.objectives, w, seed) for name, made in COMBINERS.items() for w in WEIGHTS
    }
    return found | {MIN_NORM: Combined(goals.objectives, MinNorm())}


def constrained(goals: Goals, seed: int) -> dict[str, Objective]:
    """The first goal kept within each tolerance; the training fills in the reference."""
    return {
        named(CONSTRAINED, keep): Constrained(*goals.objectives, keep=keep, reference=(1.0,))
        for keep in TOLERANCES
    }


def conditioned(goals: Goals, parts: Parts, seed: int, rounds: int) -> dict[str, Scores]:
    """One model with preferences as features, read off at several."""
    q = parts.train.queries
    sizes = np.tile(q.sizes, COPIES)
    drawn = draw_preferences(sizes, 2, seed=seed)
    sources = dict(zip(PREFERENCES, drawn.T, strict=True)) | {SECOND: np.tile(q.labels[SECOND], COPIES)}
    features = np.column_stack([np.tile(parts.train.features, (COPIES, 1)), drawn])
    data = data_of(Collection(features, Queries(np.tile(q.relevance, COPIES), sizes, **sources)))
    objective = Combined(goals.objectives, FromSources(PREFERENCES))
    booster, seconds = booster_of(objective, data, rounds)
    kept: dict[str, Scores] = {f"{ONE_MODEL} seconds": np.array([seconds, np.nan, np.nan])}
    for w in READ_OFF:

        def predict(features: Scores, w: float = w) -> Scores:
            return predictor(booster)(np.column_stack([features, np.tile([1 - w, w], (len(features), 1))]))

        kept |= outcome(named(ONE_MODEL, w), predict, goals, parts)
    return kept
