"""Gradients recorded in one training and replayed in another."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lambdaboost.objectives import Objective


class Round(NamedTuple):
    """Input and output of an objective in one boosting round."""

    scores: NDArray[np.float64]
    grad: NDArray[np.float32]
    hess: NDArray[np.float32]


class Kept:
    """Returns itself from deepcopy, since LightGBM deep-copies its parameters."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class Recorder(Kept):
    """An objective that records its rounds."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.rounds: list[Round] = []

    def __call__(self, scores: Any, data: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute and record the gradient."""
        grad, hess = self.objective(scores, data)
        self.rounds.append(Round(np.array(scores, dtype=np.float64), grad.copy(), hess.copy()))
        return grad, hess


class Replay(Kept):
    """Replays the gradients of recorded rounds, in any number of trainings."""

    def __init__(self, rounds: list[Round]) -> None:
        self.rounds = rounds
        self.asked = 0

    def __call__(self, scores: Any, data: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the gradient of the next round."""
        now = self.rounds[self.asked % len(self.rounds)]
        self.asked += 1
        return now.grad, now.hess
