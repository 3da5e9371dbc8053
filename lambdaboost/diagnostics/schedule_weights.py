"""`schedule_weights`: the weights of a schedule as an array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation import _checks
from lambdaboost.objectives.blend import weight_at
from lambdaboost.objectives.schedules import Schedule


def schedule_weights(schedule: float | Schedule, rounds: int) -> NDArray[np.float64]:
    """The weight w_m of a schedule at rounds m = 0, 1, …, rounds − 1 (2011 paper, fig. 6).

    Parameters
    ----------
    schedule : float in [0, 1], or a schedule
        As in `Blend`: a number, `Constant`, `Linear`, `Exponential`, or any function of the round.
    rounds : int
        Number of rounds, ≥ 1.

    Returns
    -------
    float64 (rounds,)

    Raises
    ------
    ValueError, TypeError
        If a weight is not in [0, 1], or `rounds` is not a whole number ≥ 1.

    Examples
    --------
    >>> from lambdaboost import Linear
    >>> schedule_weights(Linear(0.25, 0.5), 3)
    array([0.25, 0.75, 1.  ])

    """
    rounds = _checks.whole("rounds", rounds, "give the number of boosting rounds, a whole number ≥ 1")
    return np.array([weight_at(schedule, m) for m in range(rounds)])
