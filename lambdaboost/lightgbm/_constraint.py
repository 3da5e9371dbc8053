"""Whether a booster keeps the constraint of its objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost.engines.constraint import kept_by, warn_if_broken
from lambdaboost.engines.rounds import ObjectiveInRounds


def check_constraint(booster: Any, in_rounds: ObjectiveInRounds, rolls_back: bool) -> None:
    """Warn if a booster that still has its training data breaks the constraint.

    After early stopping a booster without its data ends with the best round. With `rolls_back`, the rounds after it are
    removed, since LightGBM knows the scores of all rounds only; otherwise the check is of all rounds.
    """
    data, rule = booster.train_set, in_rounds.rules[booster.train_set]
    kept = kept_by(rule)

    def measured(scores: Any, of: Any) -> Any:
        # A tree that is added and removed leaves rounding errors, which would order ties.
        return kept(scores.astype(np.float32) if rolls_back else scores, of)

    best, rounds = booster.best_iteration, in_rounds.start_round(data)
    if rolls_back and 0 < best < rounds:
        for _ in range(booster.current_iteration() - best):
            booster.rollback_one_iter()
        rounds = best
    # LightGBM's own metrics come first.
    warn_if_broken(rule, rounds, float(booster.eval_train(measured)[-1][2]))
