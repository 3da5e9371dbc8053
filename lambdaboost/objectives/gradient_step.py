"""GradientStep: normalised gradient descent instead of Newton steps."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_choice
from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.objective import Floats, LambdaMu, check_objective
from lambdaboost.objectives.base.wrapper import Wrapper

Normalize = Literal["query", "all", "none"]


class GradientStep(Wrapper):
    r"""Gradient descent on normalised λ (2011 paper, §5.3): least-squares splits, leaves of mean λ.

    λ of each query is divided by its population standard deviation, hess = 1 for every document.

    Parameters
    ----------
    objective : Objective
        The objective that λ comes from.
    normalize : "query", "all" or "none"
        Divide by the standard deviation of each query's λ, of all λ together, or leave λ unchanged. λ stay as they are
        where their standard deviation is below 1e-38: equal λ, or a right order with scores some 87 and more apart.

    Examples
    --------
    >>> from lambdaboost import GradientStep, LambdaRank, Queries
    >>> grad, hess = GradientStep(LambdaRank()).gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad, hess
    (array([ 1., -1.], dtype=float32), array([1., 1.], dtype=float32))

    """

    normalize: Normalize = "query"

    def __post_init__(self) -> None:
        check_objective("objective", self.objective)
        check_choice("normalize", self.normalize, Normalize)

    curvature_changes_sign = False  # μ is 1

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ of unit spread, and ones."""
        # In float64, since squares have twice the range.
        lam = self.objective.lambdas(scores, q, iteration)[0].astype(np.float64)
        if self.normalize == "query":
            lam = lam / np.repeat(_by_query(lam, q), q.sizes)
        elif self.normalize == "all":
            lam = lam / _overall(lam, q.weight)
        return lam, np.ones(q.n_documents)


def _overall(lam: Floats, weights: NDArray[np.floating] | None) -> Floats:
    """Population standard deviation of all λ, each counted as often as its weight says."""
    if weights is None:
        return _at_least_normal(lam.var())
    total = float(weights.sum()) or 1.0
    mean = (weights * lam).sum() / total
    return _at_least_normal((weights * (lam - mean) ** 2).sum() / total)


def _by_query(lam: Floats, q: Queries) -> Floats:
    """Population standard deviation of λ in each query, (n_queries,)."""
    # λ of a query sum to 0 up to rounding, so the mean is subtracted before squaring.
    starts = q.offsets[:-1]
    mean = np.add.reduceat(lam, starts) / q.sizes
    return _at_least_normal(np.add.reduceat((lam - np.repeat(mean, q.sizes)) ** 2, starts) / q.sizes)


def _at_least_normal(variance: Any) -> Floats:
    """The standard deviation, 1 where it is below float32's normal range.

    There λ lose digits, and rounding errors would be scaled up to full forces.
    """
    spread = np.sqrt(variance)
    return np.where(spread >= np.finfo(np.float32).tiny, spread, 1.0)
