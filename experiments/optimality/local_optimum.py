"""`local_optimum_test`: whether a trained model is at a local optimum of a measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.optimality.model_weights import weights_of
from lambdaboost import Queries
from lambdaboost.evaluation import NDCG, Measure

ROUNDING = 1e-12  # smaller changes of a mean are none


@dataclass(frozen=True, eq=False, repr=False)
class LocalOptimum:
    """The result of `local_optimum_test`; `str` gives it in words.

    Attributes
    ----------
    measure : Measure
        The measure.
    value : float
        Its mean at the trained weights.
    n_weights : int
        The number of weights of the model.
    step : float
        The length of a step, relative to the norm of the weights.
    share, alpha : float
        The claim tested: fewer than `share` of all directions raise the measure, at level `alpha`.
    changes : float64 (n_directions,)
        The mean measure after a step along each direction, minus `value`.

    """

    measure: Measure
    value: float
    n_weights: int
    step: float
    share: float
    alpha: float
    changes: NDArray[np.float64]

    @property
    def rises(self) -> int:
        """The number of directions that raise the measure."""
        return int((self.changes > ROUNDING).sum())

    @property
    def falls(self) -> int:
        """The number of directions that lower it."""
        return int((self.changes < -ROUNDING).sum())

    @property
    def level(self) -> int:
        """The number of directions that do not change it, which are not trials of the test."""
        return self.changes.size - self.rises - self.falls

    @property
    def p_value(self) -> float:
        """The probability of at most `rises` rises if `share` of all directions raised the measure; 1 without trials.

        One-sided and exact: (1 − share)^n if none of n directions does.
        """
        from scipy.stats import binomtest

        trials = self.rises + self.falls
        return float(binomtest(self.rises, trials, self.share, "less").pvalue) if trials else 1.0

    @property
    def highest_share(self) -> float:
        """The upper confidence bound, at level 1 − alpha, of the share of directions that raise it."""
        from scipy.stats import binomtest

        trials = self.rises + self.falls
        if not trials:
            return 1.0
        return float(binomtest(self.rises, trials, self.share, "less").proportion_ci(1 - self.alpha).high)

    @property
    def is_local_optimum(self) -> bool:
        """Whether p ≤ alpha."""
        return self.p_value <= self.alpha

    def __repr__(self) -> str:
        trials = self.rises + self.falls
        return (
            f"LocalOptimum({self.measure!r}: {self.rises} of {trials} directions rise, p={self.p_value:.3g})"
        )

    def __str__(self) -> str:
        trials = self.rises + self.falls
        found = (
            f"{self.measure!r} = {self.value:.4f}. Steps of {self.step:.3g} times the norm of the {self.n_weights} "
            f"weights raise it along {self.rises} of {trials} random directions"
        )
        if self.level:
            found += f" ({self.level} more do not change it)"
        found += f"; p = {self.p_value:.2g}, alpha = {self.alpha:g}. With {1 - self.alpha:.4g} confidence "
        if self.is_local_optimum:
            return (
                found
                + f"fewer than {self.share:.2%} of all directions raise it: a local optimum at this step."
            )
        return (
            found
            + f"no more than {self.highest_share:.2%} of all directions raise it: not shown to be an optimum."
        )


def local_optimum_test(
    model: Any,
    X: Any,
    q: Queries,
    measure: Measure = NDCG(10),
    step: float = 0.1,
    share: float = 0.01,
    alpha: float = 0.01,
    directions: int | None = None,
    seed: int = 0,
) -> LocalOptimum:
    r"""Test whether a model is at a local optimum (Donmez, Svore and Burges 2009; Yue and Burges 2007, §5.3).

    All weights w move at once, :math:`w + h\,\lVert w\rVert\,u`, along directions u drawn uniformly from the unit
    sphere. If `share` of all directions raised the measure, none of n directions would do so with probability
    :math:`(1 - \mathrm{share})^n`; if that is at most `alpha`, fewer than `share` of all directions raise it. 459
    directions suffice for 1 % at the level of 1 %. The model is not modified.

    Ranking measures are piecewise constant: very small steps change nothing, and such directions are not counted; small
    steps change it at random. So the result depends on the step, and needs weights of similar scale: standardise the
    features of a linear model.

    Parameters
    ----------
    model, X, q
        As in `weight_sweep`; X and q are the training data, or other data to test for an optimum on these.
    measure : Measure
        The measure that must not rise.
    step : float
        h, the length of a step relative to the norm of the weights, > 0.
    share, alpha : float in (0, 1)
        The share of directions that may raise the measure unnoticed, and the level of the test.
    directions : int, optional
        The number of directions; by default the smallest that can reach `alpha`. With more, a few may rise.
    seed : int
        Seed of the directions.

    Returns
    -------
    LocalOptimum

    Raises
    ------
    TypeError, ValueError
        If the model has no weights or all are 0, there are too few directions, or another argument is invalid.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from lambdaboost import PairAccuracy, Queries
    >>> X = np.linspace(-1, 1, 100)[:, None]
    >>> q = Queries(np.arange(100.0), sizes=[100])
    >>> found = local_optimum_test(SimpleNamespace(coef_=[1.0]), X, q, PairAccuracy(), step=2.0)
    >>> found.rises, found.falls, found.level  # a step of −2 reverses the ranking, one of +2 changes nothing
    (0, 239, 220)

    """
    if not step > 0:
        raise ValueError(f"step is {step}: give the length of a step, > 0")
    for name, value in (("share", share), ("alpha", alpha)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}: give a share between 0 and 1, such as 0.01")
    least = math.ceil(math.log(alpha) / math.log1p(-share))
    if directions is None:
        directions = least
    if directions < least:
        raise ValueError(
            f"directions is {directions}: give at least {least}, the minimum for share={share} at alpha={alpha}"
        )
    of_model = weights_of(model, X, q)
    length = step * float(np.linalg.norm(of_model.trained))
    if not length > 0:
        raise ValueError("model's weights are all 0: train it first")
    value = measure(of_model.scores, q)
    rng = np.random.default_rng(seed)
    changes = np.empty(directions)
    for at in range(directions):
        u = rng.standard_normal(of_model.trained.size)
        moved = of_model.moves(u * (length / np.linalg.norm(u)))
        changes[at] = measure(of_model.scores + moved, q) - value
    return LocalOptimum(
        measure, value, of_model.trained.size, float(step), float(share), float(alpha), changes
    )
