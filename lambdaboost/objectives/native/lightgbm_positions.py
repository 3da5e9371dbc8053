"""A round of LightGBM's training with ``position``: its objective at biased scores, and a Newton step of the bias.

A copy of `RankingObjective::GetGradients` and `UpdatePositionBiasFactors` (LightGBM 4.x, src/objective/
rank_objective.hpp) with one thread: float32 biases, derivatives summed in float64 by row. The bias is a state, which
every round updates, so this is no `Objective`; `PositionGAM` solves for the bias in each round.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.native.queries import Derivatives

DAMPING = 0.001
Gradient = Callable[[NDArray[np.float64], Queries], Derivatives]


def start(q: Queries) -> NDArray[np.float32]:
    """The bias of each position before the first round; (number of positions,)."""
    return np.zeros(int(q.required_position().max()), dtype=np.float32)


def step(
    bias: NDArray[np.float32],
    scores: NDArray[np.float64],
    q: Queries,
    gradient: Gradient,
    learning_rate: float,
    regularization: float = 0.0,
) -> tuple[Derivatives, NDArray[np.float32]]:
    """Gradient and hessian of a round, and the bias of the next.

    Parameters
    ----------
    bias : float32 (number of positions,)
        As `start` or the round before gave it.
    scores, q
        Scores without the bias, and queries with the position of each row.
    gradient : function of scores and queries
        ``LambdaRank(convention="lightgbm").gradient``, with the options of the training.
    learning_rate, regularization : float
        LightGBM's ``learning_rate`` and ``lambdarank_position_bias_regularization``.

    """
    place = q.required_position() - 1
    grad, hess = gradient(scores + bias[place].astype(np.float64), q)
    count = np.bincount(place, minlength=bias.size)
    slope = (
        np.bincount(place, -grad.astype(np.float64), bias.size)
        - bias.astype(np.float64) * regularization * count
    )
    curvature = np.bincount(place, -hess.astype(np.float64), bias.size) - regularization * count
    following = bias + learning_rate * slope / (np.abs(curvature) + DAMPING)
    return (grad, hess), following.astype(np.float32)
