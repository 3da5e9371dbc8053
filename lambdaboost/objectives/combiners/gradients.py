"""`Gradients`: λ, μ and costs of several objectives in a round, which combiners read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.objective import Floats, LambdaMu, Objective
from lambdaboost.objectives.kernels.pair_rule import no_order

# Figures below float32's normal range, 1e-38, are lost. Sums near it would miss much, and be scaled up to full forces.
LEAST_SUM = 1e-30


@dataclass(frozen=True, eq=False)
class Gradients:
    """Several objectives at the scores of a round."""

    objectives: Sequence[Objective]
    derivatives: Sequence[LambdaMu]  # λ and μ of each
    scores: Floats
    q: Queries
    iteration: int

    @classmethod
    def at(cls, objectives: Sequence[Objective], scores: Floats, q: Queries, iteration: int) -> Self:
        """Those of the objectives at some scores."""
        return cls(objectives, derivatives_of(objectives, scores, q, iteration), scores, q, iteration)

    @cached_property
    def norms(self) -> Floats:
        """The norm of each λ, in which a document counts as often as its weight says, (K,); 0 without force."""
        norms = np.array([np.sqrt(self._product(lam, lam)) for lam, _ in self.derivatives])
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
        sums = np.array(
            [self._sum(mu, of) for (_, mu), of in zip(self.derivatives, self.objectives, strict=True)]
        )
        sums = np.where(self.live & (sums >= LEAST_SUM), sums, 0.0)
        to_sum = np.divide(sums[self.live.argmax()], sums, where=sums > 0, out=np.zeros(sums.size))
        return np.maximum(self.to_first, to_sum)

    @cached_property
    def cosines(self) -> Floats:
        """The cosine between each two λ, (K, K); 0 without force."""
        cosines = np.diag(self.live * 1.0)
        for i, j in combinations(np.flatnonzero(self.live).tolist(), 2):
            product = self._product(self.derivatives[i][0], self.derivatives[j][0])
            cosines[i, j] = cosines[j, i] = np.clip(product / (self.norms[i] * self.norms[j]), -1.0, 1.0)
        return cosines

    @cached_property
    def costs(self) -> Floats:
        """1 less the measure of each objective over the queries on which it is defined, 0 if it is on none; (K,)."""
        measured = np.array([of.measure.strict(self.scores, self.q) for of in self.objectives])
        return np.where(np.isnan(measured), 0.0, 1.0 - measured)

    def combined(self, weights: NDArray[Any]) -> LambdaMu:
        """λ and μ with these weights of the scaled objectives, (K,) or (K, n_documents)."""
        lambdas, curvatures = zip(*self.derivatives, strict=True)
        of_lambda, of_curvature = (weights.T * factors for factors in (self.to_first, self.to_step))
        return weighted_sum(of_lambda.T, lambdas), weighted_sum(of_curvature.T, curvatures)

    def _product(self, one: NDArray[Any], two: NDArray[Any]) -> float:
        # Not one @ two: BLAS would start threads, and sum in an order that depends on them.
        product = np.multiply(one, two, dtype=np.float64)
        return float((product if self.q.weight is None else product * self.q.weight).sum())

    def _sum(self, curvature: NDArray[Any], objective: Objective) -> float:
        """The sum of the absolute values; a pass over the documents less where none is negative."""
        values = np.abs(curvature) if objective.curvature_changes_sign else curvature
        return float((values if self.q.weight is None else values * self.q.weight).sum(dtype=np.float64))


def derivatives_of(
    objectives: Iterable[Objective], scores: Floats, q: Queries, iteration: int
) -> list[LambdaMu]:
    """λ and μ of each objective; those over pairs share one sort."""
    order = no_order(q)
    return [
        objective.lambdas(scores, q, iteration)
        if objective.rule is None
        else objective.rule.lambdas(scores, q, order)
        for objective in objectives
    ]


def weighted_sum(weights: Iterable[Any], arrays: Sequence[NDArray[Any]]) -> Floats:
    """The arrays times their weights, added up in float64: in float32 terms that cancel would leave rounding errors."""
    total, *others = (
        np.multiply(array, w, dtype=np.float64) for w, array in zip(weights, arrays, strict=True)
    )
    for term in others:
        total += term
    return np.asarray(total)
