"""`local_optimum_test`: whether a trained model is at a local optimum of a measure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from experiments.yue2007.weights import Weights
from lambdaboost import Queries
from lambdaboost.evaluation import Measure

ROUNDING = 1e-12  # smaller changes of a mean are none
LEVEL = 0.01  # of the test, and of the share of directions that may raise the measure unnoticed
DIRECTIONS = math.ceil(math.log(LEVEL) / math.log1p(-LEVEL))  # 459, the fewest that can show it


@dataclass(frozen=True, eq=False)
class LocalOptimum:
    """The result of `local_optimum_test`.

    Attributes
    ----------
    value : float
        The mean measure at the trained weights.
    changes : float64 (n_directions,)
        The mean measure after a step along each direction, minus `value`.

    """

    value: float
    changes: NDArray[np.float64]

    @property
    def rises(self) -> int:
        """The number of directions that raise the measure."""
        return int((self.changes > ROUNDING).sum())

    @property
    def trials(self) -> int:
        """The number of directions that change it; the others are not trials of the test."""
        return int((np.abs(self.changes) > ROUNDING).sum())

    @property
    def p_value(self) -> float:
        """The probability of at most `rises` rises if 1 % of all directions raised the measure; 1 without trials.

        One-sided and exact: 0.99^n if none of n directions does.
        """
        return float(binomtest(self.rises, self.trials, LEVEL, "less").pvalue) if self.trials else 1.0

    @property
    def is_local_optimum(self) -> bool:
        """Whether p ≤ 1 %."""
        return self.p_value <= LEVEL


def local_optimum_test(
    weights: Weights, q: Queries, measure: Measure, step: float = 0.1, seed: int = 0
) -> LocalOptimum:
    r"""Test whether a model is at a local optimum (Donmez, Svore and Burges 2009; Yue and Burges 2007, §5.3).

    All weights w move at once, :math:`w + h\,\lVert w\rVert\,u`, along directions u drawn uniformly from the unit
    sphere, with h the `step`. If 1 % of all directions raised the measure, none of n would do so with probability
    :math:`0.99^n`; 459 directions suffice for the level of 1 %. `q` are the training queries, or others to test for an
    optimum on these.

    Ranking measures are piecewise constant: very small steps change nothing, and such directions are not counted; small
    steps change it at random. So the result depends on the step, and needs weights of similar scale: standardise the
    features of a linear model.

    Examples
    --------
    >>> from experiments.yue2007.weights import linear_weights
    >>> from lambdaboost import PairAccuracy
    >>> weights, q = linear_weights([1.0], np.linspace(-1, 1, 100)[:, None]), Queries(np.arange(100.0), sizes=[100])
    >>> found = local_optimum_test(weights, q, PairAccuracy(), step=2.0)
    >>> found.rises, found.trials  # a step of −2 reverses the ranking, one of +2 changes nothing
    (0, 239)

    """
    length = step * float(np.linalg.norm(weights.trained))
    scores, rng = weights.scores, np.random.default_rng(seed)
    value, changes = measure(scores, q), np.empty(DIRECTIONS)
    for at in range(DIRECTIONS):
        u = rng.standard_normal(weights.trained.size)
        changes[at] = measure(scores + weights.moves(u * (length / np.linalg.norm(u))), q) - value
    return LocalOptimum(value, changes)
