"""`ObjectiveInRounds`: an objective as the engines' `train` and `cv` call it, with the boosting round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._engine_threads import called_by
from lambdaboost.objectives import Objective
from lambdaboost.objectives.stock.round_count import RoundCount, iterations_of


class ObjectiveInRounds:
    """An objective that computes its gradient in the current round.

    The engine's callbacks report which booster trains on which data set, and for LightGBM when each round starts and
    ends. So the round is right however often the gradient is requested, and after `rollback_one_iter`.
    """

    def __init__(self, objective: Objective, of_folds: Sequence[Objective] = ()) -> None:
        self.objective = objective
        # Of a cross-validation whose folds have objectives of their own, in the order of the folds.
        self._of_folds = of_folds
        self.rules: dict[Any, Objective] = {}
        # By data set, since every fold of a cross-validation has its own.
        self._boosters: dict[Any, Any] = {}
        self._counts: dict[Any, RoundCount] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # LightGBM copies its parameters, and the callbacks must share state with the copy.
        return self

    def begin(self, booster: Any, data: Any, rounds: int | None = None) -> None:
        """`booster` trains on `data`, after `rounds` rounds; by default the iterations that it reports."""
        now = iterations_of(booster)
        if data not in self.rules:
            self.rules[data] = self._of_folds[len(self.rules)] if self._of_folds else self.objective
        self._boosters[data] = booster
        self._counts[data] = RoundCount(now if rounds is None else rounds, now)

    def start_round(self, data: Any) -> int:
        """The current round, from 0, of the booster of `data`; rounds that were rolled back do not count."""
        now = iterations_of(self._boosters[data])
        self._counts[data] = RoundCount(self._counts[data].current(now), now)
        return self._counts[data].done

    def end_round(self, data: Any) -> None:
        """End the round, with or without a tree: LightGBM drops trees without a split."""
        self._counts[data] = RoundCount(self._counts[data].done + 1, iterations_of(self._boosters[data]))

    def __call__(self, scores: ArrayLike, data: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Gradient and hessian in the current round of the booster that trains on `data`."""
        objective, iteration = self.rules[data], self.start_round(data)
        with called_by(self._boosters[data]):
            return objective.gradient_on(scores, data, iteration)
