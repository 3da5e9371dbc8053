"""One measure kept with proof: the sequence of trade-offs on a split, and all of them on its test part."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.several_goals.sets import Goals, Parts
from experiments.several_goals.training import Scores, booster_of, data_of, figures, predictor
from lambdaboost import Constrained, Scorecard
from lambdaboost.datasets import Collection
from lambdaboost.objectives import Objective
from lambdaboost.tuning.folds import Fold, draw_folds, join_parts
from lambdaboost.tuning.keep import WEIGHTS, NonInferiority

KEEP = 0.005
FOLDS = 5  # of the cross-validation
SPLITS = 20  # of every data set: of the real ones four seeds of five test parts


def trade_off(goals: Goals, weight: float) -> Objective:
    """The weighted sum with a weight of the second goal; the first goal alone at 0."""
    return Scorecard(goals.objectives, (1 - weight, weight)) if weight else goals.objectives[0]


def sequence(goals: Goals, parts: Parts, seed: int, rounds: int) -> dict[str, Scores]:
    """The tested steps in cross-validation, and the test queries by every trade-off and by `Constrained`."""
    data = join_parts(parts.train, parts.valid)
    held_out = tested(goals, draw_folds(data, FOLDS, seed), data, rounds)
    whole = data_of(data)
    systems = {f"{w:g}": trade_off(goals, w) for w in WEIGHTS}
    systems["Constrained"] = Constrained(*goals.objectives, keep=KEEP, reference=(1.0,))
    found: dict[str, Scores] = {"held out": held_out}
    for name, objective in systems.items():
        booster, seconds = booster_of(objective, whole, rounds)
        found[f"{name} test"] = figures(predictor(booster)(parts.test.features), goals, parts.test)
        found[f"{name} seconds"] = np.array([seconds])
    return found


def tested(goals: Goals, folds: tuple[Fold, ...], data: Collection, rounds: int) -> Scores:
    """Both measures of each held-out query, (k, 2, n), from the first goal alone to the first step without a proof."""
    trained = [data_of(fold.train) for fold in folds]
    values: list[Scores] = []
    while len(values) < len(WEIGHTS):
        objective = trade_off(goals, WEIGHTS[len(values)])
        of = np.full((2, data.queries.n_queries), np.nan)
        for fold, train in zip(folds, trained, strict=True):
            booster, _ = booster_of(objective, train, rounds)
            of[:, fold.queries] = figures(predictor(booster)(fold.valid.features), goals, fold.valid)
        values.append(of)
        if len(values) > 1 and not kept(goals, np.array(values)).steps[-1].is_proven:
            break
    return np.array(values)


def kept(goals: Goals, values: Scores) -> NonInferiority:
    """What the tests say of the trade-offs that were trained."""
    return NonInferiority(goals.measures, KEEP, WEIGHTS[: len(values)], values, np.ones(values.shape[2]))


def chosen(goals: Goals, outcome: Mapping[str, Scores]) -> float:
    """The weight that the sequence chooses on a split."""
    return WEIGHTS[kept(goals, outcome["held out"]).chosen]
