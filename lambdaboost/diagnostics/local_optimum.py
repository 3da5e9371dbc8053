"""`local_optimum_test`: whether a trained model stands at a local optimum of a measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.diagnostics._model_weights import weights_of
from lambdaboost.diagnostics._watched import watched
from lambdaboost.evaluation import NDCG, Measure, _checks
from lambdaboost.evaluation.comparison.weighted_t import ROUNDING
from lambdaboost.objectives.base.checks import check_number


@dataclass(frozen=True, eq=False, repr=False)
class LocalOptimum:
    """What `local_optimum_test` found; as text (`str`) the result in words.

    Attributes
    ----------
    measure : Measure
        What was measured.
    value : float
        Its mean at the trained weights.
    n_weights : int
        How many weights the model has.
    step : float
        How far the weights moved, in parts of their norm.
    share, alpha : float
        What the test is to show: fewer than this share of all directions raise the measure, at this level.
    changes : float64 (n_directions,)
        The mean measure after a step along each direction, less `value`.

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
        """How many directions raise the measure."""
        return int((self.changes > ROUNDING).sum())

    @property
    def falls(self) -> int:
        """How many directions lower it."""
        return int((self.changes < -ROUNDING).sum())

    @property
    def level(self) -> int:
        """How many directions leave it as it is; they say nothing, and are no trials of the test."""
        return self.changes.size - self.rises - self.falls

    @property
    def p_value(self) -> float:
        """The chance of so few rises if `share` of all directions raised the measure; 1 without trials.

        One-sided and exact: (1 − share)^n where none of n directions does.
        """
        from scipy.stats import binomtest

        trials = self.rises + self.falls
        return float(binomtest(self.rises, trials, self.share, "less").pvalue) if trials else 1.0

    @property
    def highest_share(self) -> float:
        """The upper end of the one-sided interval of the share of directions that raise it, at 1 − alpha."""
        from scipy.stats import binomtest

        trials = self.rises + self.falls
        if not trials:
            return 1.0
        return float(binomtest(self.rises, trials, self.share, "less").proportion_ci(1 - self.alpha).high)

    @property
    def is_local_optimum(self) -> bool:
        """Whether the test shows it: p ≤ alpha."""
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
            found += f" ({self.level} more leave it as it is)"
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
    r"""The Monte-Carlo test of local optimality (Donmez, Svore and Burges 2009; after Yue and Burges 2007, §5.3).

    All weights w move at once, :math:`w + h\,\lVert w\rVert\,u`, along directions u drawn uniformly from the unit
    sphere. Were `share` of all directions to raise the measure, n of them would all fail to with probability
    :math:`(1 - \mathrm{share})^n`; where that is at most `alpha`, the model is at a local optimum but for such a share.
    459 directions show it for 1 % at the level of 1 %. The model is only read.

    A measure of ranks is a staircase: at a small enough step nothing changes, and such directions are not counted; at
    small ones it moves by chance. So the result is one of its step, and of weights of like scale: standardise the
    features of a linear model.

    Parameters
    ----------
    model, X, q
        As in `weight_sweep`; X and q the training data, or others for an optimum of theirs.
    measure : Measure
        What must not rise.
    step : float
        h, the length of a step in parts of the norm of the weights, > 0.
    share, alpha : float in (0, 1)
        The share of directions that may go unnoticed, and the level of the test.
    directions : int, optional
        How many to draw; by default the least that can show it. More of them forgive single rises.
    seed : int
        Draws them.

    Returns
    -------
    LocalOptimum

    Raises
    ------
    TypeError, ValueError
        Where the model offers no weights or only zeros, there are too few directions, or another argument is off.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from lambdaboost import PairAccuracy, Queries
    >>> X = np.linspace(-1, 1, 100)[:, None]
    >>> q = Queries(np.arange(100.0), sizes=[100])
    >>> found = local_optimum_test(SimpleNamespace(coef_=[1.0]), X, q, PairAccuracy(), step=2.0)
    >>> found.rises, found.falls, found.level  # a step of 2 back turns the ranking round, one ahead changes nothing
    (0, 239, 220)

    """
    if not isinstance(measure, Measure):
        raise TypeError(f"measure is {measure!r}: give a measure, such as NDCG(10)")
    check_number("step", step, 0, open_low=True)
    for name, value in (("share", share), ("alpha", alpha)):
        check_number(name, value, 0, 1, open_low=True)
        if value == 1:
            raise ValueError(f"{name} is 1: give a share between 0 and 1, such as 0.01")
    least = math.ceil(math.log(alpha) / math.log1p(-share))
    if directions is None:
        directions = least
    if _checks.whole("directions", directions, "give a whole number ≥ 1, or None for the least") < least:
        raise ValueError(
            f"directions is {directions}: even if none rises, it takes {least} to show share={share} at alpha={alpha}"
        )
    of_model = weights_of(model, X, q)
    length = step * float(np.linalg.norm(of_model.trained))
    if not length > 0:
        raise ValueError("model's weights are all 0: train it first")
    value = measure(of_model.scores, q)
    rng = np.random.default_rng(seed)
    changes = np.empty(directions)
    for at in watched(range(directions), directions, f"{measure!r} along random directions"):
        u = rng.standard_normal(of_model.trained.size)
        moved = of_model.moves(u * (length / np.linalg.norm(u)))
        changes[at] = measure(of_model.scores + moved, q) - value
    return LocalOptimum(
        measure, value, of_model.trained.size, float(step), float(share), float(alpha), changes
    )
