"""`Parts`: what combiners can read about the objectives of a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.objective import Floats, Objective
from lambdaboost.objectives.base.strict import strict
from lambdaboost.objectives.kernels.pair_rule import Derivatives, no_order

# Figures below float32's normal range, 1e-38, are lost. Sums near it would miss much, and be scaled up to full forces.
LEAST_SUM = 1e-30
LARGEST_NARROW = 1e30


@dataclass(frozen=True, eq=False)
class Parts:
    """Several objectives at the scores of a round.

    Attributes
    ----------
    objectives : sequence of Objective
    lambdas, curvatures : sequence of arrays (n_documents,)
        λ and μ of each objective.
    scores : float64 (n_documents,)
    q : Queries
    iteration : int

    """

    objectives: Sequence[Objective]
    lambdas: Sequence[Derivatives]
    curvatures: Sequence[Derivatives]
    scores: Floats
    q: Queries
    iteration: int

    @cached_property
    def norms(self) -> Floats:
        """The norm of each λ times the weights of the documents, (K,); 0 where there is no force."""
        norms = np.array([np.sqrt(_product(lam, lam)) for lam in self._weighted])
        return np.where(norms >= LEAST_SUM, norms, 0.0)

    @cached_property
    def live(self) -> NDArray[np.bool_]:
        """Which objectives have any force, (K,)."""
        return self.norms > 0

    @cached_property
    def to_first(self) -> Floats:
        """What each λ is multiplied by to have the norm of the first λ with any force, (K,); 0 without force."""
        scale = self.norms[self.live.argmax()]
        return np.divide(scale, self.norms, where=self.live, out=np.zeros(self.norms.size))

    @cached_property
    def to_step(self) -> Floats:
        """What each μ is multiplied by, (K,): as its λ, or to the first one's sum over the documents if that is more.

        So no Newton step is longer than the objective's own, nor than those of the first objective with any force. An
        objective that is far from its best has a large λ for its μ; beside one that has arrived, its steps would undo
        what that one has learnt.
        """
        weighted = self._times_weight(self.curvatures)
        sums = np.array([_sum_of(mu, of) for mu, of in zip(weighted, self.objectives, strict=True)])
        sums = np.where(self.live & (sums >= LEAST_SUM), sums, 0.0)
        to_sum = np.divide(sums[self.live.argmax()], sums, where=sums > 0, out=np.zeros(sums.size))
        return np.maximum(self.to_first, to_sum)

    @cached_property
    def cosines(self) -> Floats:
        """The cosine between each two λ, (K, K); 0 without force."""
        count = len(self.lambdas)
        cosines = np.eye(count)
        for i in range(count):
            for j in range(i):
                scale = self.norms[i] * self.norms[j]
                product = _product(self._weighted[i], self._weighted[j]) if scale > 0 else 0.0
                cosines[i, j] = cosines[j, i] = np.clip(product / (scale or 1.0), -1.0, 1.0)
        return cosines * self.live[:, None] * self.live

    @cached_property
    def costs(self) -> Floats:
        """The cost of each objective, (K,): see `cost`."""
        return np.array([cost(objective, self.scores, self.q) for objective in self.objectives])

    @cached_property
    def _weighted(self) -> Sequence[Derivatives]:
        return self._times_weight(self.lambdas)

    def _times_weight(self, arrays: Sequence[Derivatives]) -> Sequence[Derivatives]:
        weight = self.q.weight
        return arrays if weight is None else [array * weight for array in arrays]

    def combined(self, weights: NDArray[Any]) -> tuple[Derivatives, Derivatives]:
        """λ and μ with these weights of the scaled objectives, (K,) or (K, n_documents)."""
        return (
            _weighted_sum(_scaled(weights, self.to_first), self.lambdas),
            _weighted_sum(_scaled(weights, self.to_step), self.curvatures),
        )


def _scaled(weights: NDArray[Any], factors: Floats) -> list[Any]:
    scaled = [w * _narrow(factor) for w, factor in zip(weights, factors, strict=True)]
    return [_narrow(w) for w in scaled] if weights.ndim == 1 else scaled


def _sum_of(curvature: Derivatives, objective: Objective) -> float:
    """The sum of the absolute values; a pass over the documents less where none is negative."""
    values = np.abs(curvature) if objective.curvature_changes_sign else curvature
    return float(values.sum(dtype=np.float64))


def _narrow(number: float) -> np.floating:
    """A number as float32, the type of most λ, in which sums are fastest; unless it is too large."""
    return np.float32(number) if number < LARGEST_NARROW else np.float64(number)


def _weighted_sum(weights: Sequence[Any], arrays: Sequence[Derivatives]) -> Derivatives:
    total = weights[0] * arrays[0]
    for w, array in zip(weights[1:], arrays[1:], strict=True):
        term = w * array
        if term.dtype == total.dtype:
            total += term
        else:
            total = total + term
    return total


def parts_of(objectives: Sequence[Objective], scores: Floats, q: Queries, iteration: int) -> Parts:
    """λ and μ of each objective; those over pairs share one sort."""
    order = no_order(q)
    derivatives = [
        objective.lambdas(scores, q, iteration)
        if objective.rule is None
        else objective.rule.lambdas(scores, q, order)
        for objective in objectives
    ]
    lambdas, curvatures = zip(*derivatives, strict=True)
    return Parts(objectives, lambdas, curvatures, scores, q, iteration)


def cost(objective: Objective, scores: Floats, q: Queries) -> float:
    """1 less the measure of an objective, over the queries on which the measure is defined; 0 if it is on none."""
    measured = strict(objective.measure)(scores, q)
    return 0.0 if np.isnan(measured) else 1.0 - float(measured)


def _product(one: Derivatives, two: Derivatives) -> float:
    # Not one @ two: BLAS would start threads, and sum in an order that depends on them.
    return float(np.multiply(one, two, dtype=np.float64).sum())
