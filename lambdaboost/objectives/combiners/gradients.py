"""`Gradients`: λ, μ and costs of several objectives in a round, which combiners read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

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
    scores: Floats
    q: Queries
    iteration: int

    @cached_property
    def derivatives(self) -> list[LambdaMu]:
        """λ and μ of each objective; those over pairs share one sort."""
        order = no_order(self.q)
        return [
            of.lambdas(self.scores, self.q, self.iteration)
            if of.rule is None
            else of.rule.lambdas(self.scores, self.q, order)
            for of in self.objectives
        ]

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
        """The cosine between each two λ with any force, (K', K')."""
        live = np.flatnonzero(self.live).tolist()
        cosines = np.eye(len(live))
        for (i, one), (j, two) in combinations(enumerate(live), 2):
            product = self._product(self.derivatives[one][0], self.derivatives[two][0])
            cosines[i, j] = cosines[j, i] = np.clip(product / (self.norms[one] * self.norms[two]), -1.0, 1.0)
        return cosines

    def of_live(self, weights: NDArray[Any]) -> Floats:
        """Weights of the K' objectives with any force, and 0 for the others, (K,)."""
        of_all = np.zeros(self.live.size)
        of_all[self.live] = weights
        return of_all

    @cached_property
    def costs(self) -> Floats:
        """1 less the measure of each objective over the queries on which it is defined, 0 if it is on none; (K,)."""
        measured = np.array([of.measure.strict(self.scores, self.q) for of in self.objectives])
        return np.where(np.isnan(measured), 0.0, 1.0 - measured)

    def combined(self, weights: NDArray[Any]) -> LambdaMu:
        """λ and μ with these weights of the scaled objectives, (K,) or (K, n_documents)."""
        return self.summed((weights.T * self.to_first).T, (weights.T * self.to_step).T)

    def summed(self, of_lambda: Iterable[Any], of_curvature: Iterable[Any]) -> LambdaMu:
        """λ and μ of the objectives times their weights, added up."""
        lambdas, curvatures = zip(*self.derivatives, strict=True)
        return _sum_of(lambdas, of_lambda), _sum_of(curvatures, of_curvature)

    def _product(self, one: NDArray[Any], two: NDArray[Any]) -> float:
        # Not one @ two: BLAS would start threads, and sum in an order that depends on them.
        product = np.multiply(one, two, dtype=np.float64)
        return float((product if self.q.weight is None else product * self.q.weight).sum())

    def _sum(self, curvature: NDArray[Any], objective: Objective) -> float:
        """The sum of the absolute values; a pass over the documents less where none is negative."""
        values = np.abs(curvature) if objective.curvature_changes_sign else curvature
        return float((values if self.q.weight is None else values * self.q.weight).sum(dtype=np.float64))


def _sum_of(arrays: Sequence[NDArray[Any]], weights: Iterable[Any]) -> Floats:
    """In float64: in float32 terms that cancel would leave rounding errors."""
    total, *others = (
        np.multiply(array, w, dtype=np.float64) for array, w in zip(arrays, weights, strict=True)
    )
    for term in others:
        total += term
    return np.asarray(total)
