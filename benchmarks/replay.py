"""Gradients written down in one training and handed out in another."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lambdaboost.objectives import Objective


class Round(NamedTuple):
    """What went in and out of an objective in one boosting round."""

    scores: NDArray[np.float64]
    grad: NDArray[np.float32]
    hess: NDArray[np.float32]


class _Kept:
    """LightGBM copies its parameters deeply; these objects must stay the caller's own."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class Recorder(_Kept):
    """An objective that writes down its rounds."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.rounds: list[Round] = []

    def __call__(self, scores: Any, data: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Ask the objective."""
        grad, hess = self.objective(scores, data)
        self.rounds.append(Round(np.array(scores, dtype=np.float64), grad.copy(), hess.copy()))
        return grad, hess


class Replay(_Kept):
    """The gradients of recorded rounds, for one training after the other."""

    def __init__(self, rounds: list[Round]) -> None:
        self.rounds = rounds
        self.asked = 0

    def __call__(self, scores: Any, data: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Hand out the next round's."""
        now = self.rounds[self.asked % len(self.rounds)]
        self.asked += 1
        return now.grad, now.hess
