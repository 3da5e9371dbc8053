"""The measure that `Constrained` keeps, of boosters in training and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xgboost as xgb
from xgboost.callback import TrainingCallback

from lambdaboost._engine_threads import called_by
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.constraint import kept_by, warn_if_broken
from lambdaboost.engines.rounds import ObjectiveInRounds
from lambdaboost.evaluation import Measure
from lambdaboost.xgboost import newton
from lambdaboost.xgboost._private import trained


def measured(
    booster: xgb.Booster, data: xgb.DMatrix, measure: Measure, names: Sequence[str], rounds: int = 0
) -> float:
    """The measure of the first rounds of a booster on its training data; 0 for all rounds."""
    scores = newton.first_column(booster.predict(data, output_margin=True, iteration_range=(0, rounds)))
    with called_by(booster):
        return float(measure(scores, queries_of(data, names)))


def check_constraint(booster: xgb.Booster, data: xgb.DMatrix, rule: Any, names: Sequence[str]) -> None:
    """Warn if a booster breaks the constraint, after early stopping at the best round."""
    best = booster.attr("best_iteration")
    rounds = booster.num_boosted_rounds() if best is None else int(best) + 1
    if rounds:
        first = 0 if best is None else rounds
        warn_if_broken(rule, rounds, measured(booster, data, kept_by(rule), names, first))


class Curves(TrainingCallback):
    """The measure on the training data of each fold after each round."""

    def __init__(self, measure: Measure, names: Sequence[str]) -> None:
        super().__init__()
        self.measure, self.names = measure, names
        self.rounds: list[list[float]] = []

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self.rounds.append(
            [measured(booster, data, self.measure, self.names) for booster, data in trained(model, None)]
        )
        return False


class ChecksFolds(TrainingCallback):
    """Checks the constraint of each fold after a cross-validation."""

    def __init__(self, in_rounds: ObjectiveInRounds, names: Sequence[str]) -> None:
        super().__init__()
        self.in_rounds, self.names = in_rounds, names

    def after_training(self, model: Any) -> Any:
        for booster, data in trained(model, None):
            check_constraint(booster, data, self.in_rounds.rules[data], self.names)
        return model
