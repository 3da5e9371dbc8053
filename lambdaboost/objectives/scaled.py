"""Scaled: weights of objectives whose λ have one norm; and `Gradients`, which scales them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_tuple
from lambdaboost._value import Value
from lambdaboost.datasets import Queries
from lambdaboost.objectives.objective import Floats, LambdaMu, Objective
from lambdaboost.objectives.schedules import Schedule, check_weight

# Figures below float32's normal range, 1e-38, are lost. Sums near it would miss much, and be scaled up to full forces.
MIN_SUM = 1e-30


class Scaled(Value):
    r"""Fixed weights or schedules of λ that are scaled to one norm, as the weights of a `Scorecard`.

    The λ of objective k count :math:`w_k \lVert\lambda_1\rVert / \lVert\lambda_k\rVert` times. Plain
    weights, as in ``Scorecard(…, (0.8, 0.2))``, apply to the unscaled λ. The λ of a lower tier are often much smaller,
    since fewer pairs contribute, so plain weights are hard to choose.

    μ have the same factors, or larger ones that make their sum that of the first one's, so that no Newton step is
    longer than those of the first objective:

    .. math:: \lambda = \sum_k w_k f_k \lambda_k, \quad
        \mu = \sum_k w_k \max\Big(f_k, \frac{\sum_i |\mu_{1i}|}{\sum_i |\mu_{ki}|}\Big) \mu_k, \quad
        f_k = \frac{\lVert\lambda_1\rVert}{\lVert\lambda_k\rVert}.

    Norms and sums are over all documents, times their weights. An objective whose λ are all zero is left out of the
    round; then the next one is the first.

    Parameters
    ----------
    weights : tuple of floats ≥ 0 or schedules, one for each objective

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, Linear, Scaled, Scorecard
    >>> Scorecard((LambdaRank(), ClickTier()), Scaled((1.0, Linear(0.0, 0.01))))
    Scorecard(objectives=(LambdaRank(), ClickTier()), weights=Scaled(weights=(1.0, Linear(start=0.0, rate=0.01))))

    """

    weights: tuple[float | Schedule, ...]

    def __post_init__(self) -> None:
        check_tuple("weights", self.weights, "(0.8, 0.2)")
        for at, weight in enumerate(self.weights):
            check_weight(f"weights[{at}]", weight)
        if len(self.weights) < 2:
            raise ValueError(f"weights is {self.weights!r}: give one for each of at least two objectives")
        if not any(callable(weight) or weight > 0 for weight in self.weights):
            raise ValueError(f"weights is {self.weights!r}: give at least one weight above 0")


@dataclass(frozen=True, eq=False)
class Gradients:
    """Several objectives at the scores of a round."""

    objectives: Sequence[Objective]
    scores: Floats
    q: Queries
    iteration: int

    @cached_property
    def derivatives(self) -> list[LambdaMu]:
        """λ and μ of each objective; those over pairs share one sort."""
        return [objective.lambdas(self.scores, self.q, self.iteration) for objective in self.objectives]

    @cached_property
    def norms(self) -> Floats:
        """The norm of each λ, in which a document counts as often as its weight says, (K,); 0 without force."""
        norms = np.sqrt([self._sum(np.square(lam, dtype=np.float64)) for lam, _ in self.derivatives])
        return np.where(norms >= MIN_SUM, norms, 0.0)

    @cached_property
    def has_force(self) -> NDArray[np.bool_]:
        """Which objectives have any force, (K,)."""
        return self.norms > 0

    @cached_property
    def lambda_factors(self) -> Floats:
        """What each λ is multiplied by to have the norm of the first λ with any force, (K,); 0 without force."""
        scale = self.norms[self.has_force.argmax()]
        return np.divide(scale, self.norms, where=self.has_force, out=np.zeros(self.norms.size))

    @cached_property
    def curvature_factors(self) -> Floats:
        """What each μ is multiplied by, (K,): as its λ, or to the first one's sum over the documents if that is more.

        So no Newton step is longer than the objective's own, nor than those of the first objective with any force. An
        objective that is far from its best has a large λ for its μ; with one that has converged, its steps would undo
        what that one has learnt.
        """
        sums = np.array([self._sum(np.abs(mu)) for _, mu in self.derivatives])
        sums = np.where(self.has_force & (sums >= MIN_SUM), sums, 0.0)
        to_sum = np.divide(sums[self.has_force.argmax()], sums, where=sums > 0, out=np.zeros(sums.size))
        return np.maximum(self.lambda_factors, to_sum)

    def scaled_sum(self, weights: NDArray[Any]) -> LambdaMu:
        """λ and μ with these weights of the scaled objectives, (K,), or of each document in each, (K, n_documents)."""
        return self.weighted_sum((weights.T * self.lambda_factors).T, (weights.T * self.curvature_factors).T)

    def weighted_sum(self, of_lambda: Iterable[Any], of_curvature: Iterable[Any]) -> LambdaMu:
        """λ and μ of the objectives times their weights, added up."""
        lambdas, curvatures = zip(*self.derivatives, strict=True)
        return _sum_of(lambdas, of_lambda), _sum_of(curvatures, of_curvature)

    def _sum(self, values: NDArray[Any]) -> float:
        """The sum over documents, times their weights."""
        # Not a dot product: BLAS would start threads, and sum in an order that depends on them.
        weighted = values if self.q.weight is None else values * self.q.weight
        return float(weighted.sum(dtype=np.float64))


def _sum_of(arrays: Sequence[NDArray[Any]], weights: Iterable[Any]) -> Floats:
    """In float64: in float32 terms that cancel would leave rounding errors."""
    total, *others = (
        np.multiply(array, w, dtype=np.float64) for array, w in zip(arrays, weights, strict=True)
    )
    for term in others:
        total += term
    return np.asarray(total)
