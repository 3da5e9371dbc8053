"""NormalizedPairs: LambdaRank with pair weights that sum to one in every query."""

from __future__ import annotations

import numpy as np

from lambdaboost._checks import check_sigma
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.base.objective import Floats, LambdaMu, Objective
from lambdaboost.objectives.kernels.levels import levels_of
from lambdaboost.objectives.kernels.loss import ByRatio, Logistic, Loss
from lambdaboost.objectives.kernels.pair_rule import Pairs, pair_gradient
from lambdaboost.objectives.swaps.registry import check_swap, level_gains, pair_weights


class NormalizedPairs(Objective):
    r"""LambdaRank with pair weights divided by their sum, so that all queries have the same total weight.

    :math:`\lambda = \sigma\,\rho\,w/W` and :math:`\mu = \sigma^2 \rho(1-\rho)\,w/W` with :math:`w = |\Delta Z|` and W
    the sum of w over all pairs of the query, in the order of the round.

    Both engines normalise queries too (``lambdarank_norm``, ``lambdarank_normalization``), by log2(1 + Σλ)/Σλ, which
    scales up the λ of queries that are already learnt; ``LambdaRank(convention=…)`` copies that. Here W does not depend
    on the forces.

    Parameters
    ----------
    metric : Measure
        The measure Z whose change by a swap weights a pair, any that `LambdaRank` takes.
    sigma : float
        Steepness of the logistic, > 0.

    Examples
    --------
    >>> from lambdaboost import NormalizedPairs, Queries
    >>> grad, hess = NormalizedPairs().gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad  # one pair of weight 1
    array([ 0.5, -0.5], dtype=float32)

    """

    metric: Measure = NDCG()
    sigma: float = 1.0

    def __post_init__(self) -> None:
        check_swap("metric", self.metric)
        check_sigma(self.sigma)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document."""
        lam, mu = self._pairs(scores, q, float(self.sigma))
        # At σ = 0 every ρ is 1/2: each pair gives w/4 to the μ of both its documents.
        _, quarters = self._pairs(scores, q, 0.0)
        weight = 2 * np.add.reduceat(quarters, q.offsets[:-1], dtype=np.float64)
        per_weight = np.repeat(np.divide(1, weight, where=weight > 0, out=np.zeros(weight.size)), q.sizes)
        return self.sigma * per_weight * lam, self.sigma**2 * per_weight * mu

    def _pairs(self, scores: Floats, q: Queries, sigma: float) -> LambdaMu:
        levels, weights = levels_of(q, self.metric.source), pair_weights(self.metric, q)
        gain = level_gains(self.metric, q, levels)
        return pair_gradient(scores, q, Pairs(levels, gain, weights, Loss(Logistic(), ByRatio(sigma))))
