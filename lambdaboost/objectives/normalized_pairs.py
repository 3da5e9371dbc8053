"""NormalizedPairs: LambdaRank with pair weights that sum to one in every query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.base.checks import check_rank, check_sigma
from lambdaboost.objectives.base.objective import Floats, Objective
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.kernels.levels import levels
from lambdaboost.objectives.kernels.loss import Logistic, Loss
from lambdaboost.objectives.kernels.pair_rule import Derivatives, pair_gradient
from lambdaboost.objectives.swaps.dcg import check_dcg
from lambdaboost.objectives.swaps.registry import check_swap, pair_weights

Over = Literal["all", "top", "static"]


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class NormalizedPairs(Objective):
    r"""LambdaRank with pair weights divided by their sum, so that all queries have the same total weight.

    :math:`\lambda = \sigma\,\rho\,w/W` and :math:`\mu = \sigma^2 \rho(1-\rho)\,w/W` with :math:`w = |\Delta Z|` and

    ======== =============================================================================================
    over     W
    ======== =============================================================================================
    "all"    the sum of w over all pairs of the query, in the order of the round
    "top"    the same over pairs with a document in the first k ranks, the only ones that count; discounts go on past
             k, as in LightGBM's truncation and XGBoost's top-k pairs
    "static" the sum of w over all pairs in the ideal order, which depends on the labels only
    ======== =============================================================================================

    Both engines normalise queries too (``lambdarank_norm``, ``lambdarank_normalization``), by log2(1 + Σλ)/Σλ, which
    scales up the λ of queries that are already learnt; ``LambdaRank(convention=…)`` copies that. Here W does not depend
    on the forces.

    Parameters
    ----------
    metric : NDCG, CNDCG, MAP, MRR, ERR, WTA, Precision, PairAccuracy or Spearman
        The measure Z, as in `LambdaRank`; with "top" NDCG or CNDCG without a cutoff.
    over : "all", "top" or "static"
        The sum W.
    k : int, optional
        Only with "top", which needs it: the first ranks, ≥ 1.
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
    over: Over = "all"
    k: int | None = None
    sigma: float = 1.0

    def __post_init__(self) -> None:
        check_swap("metric", self.metric)
        if self.over not in get_args(Over):
            raise ValueError(f"over is {self.over!r}, expected one of {', '.join(get_args(Over))}")
        check_sigma(self.sigma)
        if self.over != "top":
            if self.k is not None:
                raise ValueError(
                    f"k={self.k!r} belongs to over='top'; otherwise the measure truncates, as NDCG(k=30)"
                )
            return
        check_dcg("metric", self.metric)
        if self.metric.k is not None:  # type: ignore[attr-defined]
            raise ValueError(
                f"metric is {self.metric!r}: over='top' truncates by k=, so leave the measure's out"
            )
        if self.k is None:
            raise ValueError("k is missing: over='top' needs the number of first ranks, such as k=32")
        check_rank("k", self.k)

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return (self.metric.source,)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document."""
        lam, mu = self._pairs(scores, q, float(self.sigma))
        if self.over == "static":
            weight = q.memo((self.metric, "pair weights"), lambda: self._weights(self._ideal(q), q))
        else:
            weight = self._weights(scores, q)
        per_weight = np.repeat(np.divide(1, weight, where=weight > 0, out=np.zeros(weight.size)), q.sizes)
        return self.sigma * per_weight * lam, self.sigma**2 * per_weight * mu

    def _pairs(self, scores: Floats, q: Queries, sigma: float) -> tuple[Derivatives, Derivatives]:
        weights, loss = pair_weights(self.metric, q), Loss(Logistic(), sigma)
        if self.k is not None:
            weights = weights._replace(cutoff=self.k)
        pairs = levels(q, self.metric.source)
        return pair_gradient(scores, q, pairs, weights, loss, drops_to_0=self.k is None)

    def _weights(self, scores: Floats, q: Queries) -> NDArray[np.float64]:
        """The sum of w over the pairs of each query, (n_queries,)."""
        # At σ = 0 every ρ is 1/2: each pair gives w/4 to the μ of both its documents.
        _, mu = self._pairs(scores, q, 0.0)
        return 2 * np.add.reduceat(mu, q.offsets[:-1], dtype=np.float64)

    def _ideal(self, q: Queries) -> Floats:
        """Scores of the ideal order: the labels, with −1 where one is missing."""
        return np.nan_to_num(q.source(self.metric.source).astype(np.float64), nan=-1.0)
