"""LambdaLoss: pair weights whose losses bound one minus NDCG."""

from __future__ import annotations

from typing import Literal

import numpy as np

from lambdaboost._checks import check_choice, check_number, check_sigma
from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, NDCG
from lambdaboost.evaluation.rankings import longest, ranking
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.prepared import PreparedPairs, Round
from lambdaboost.objectives.kernels.sigmoid import scale_scores, write_sigmoid_pairs
from lambdaboost.objectives.objective import LambdaFunction, LambdaMu, Objective
from lambdaboost.objectives.swaps.dcg import check_dcg, normalized_gains
from lambdaboost.objectives.swaps.rank_distance import RankDistance

Scheme = Literal["1", "2", "2++"]


class LambdaLoss(Objective):
    r"""NDCG-Loss1, NDCG-Loss2 and NDCG-Loss2++ (Wang et al. 2018), truncated as by Jagerman et al. (2022).

    :math:`\sum w_{ij} \log(1 + e^{-\sigma(s_i - s_j)})` with weights at the ranks of the round; with G the gain
    over the ideal DCG, :math:`D(r) = 1/\log_2(1+r)` and :math:`d = |r_i - r_j|`:

    ====== ====================== ============================================================================
    scheme pairs                  :math:`w_{ij}`
    ====== ====================== ============================================================================
    "1"    all, ties included     :math:`G_i D(r_i)`
    "2"    :math:`l_i > l_j`      :math:`|G_i - G_j|\,\delta_{ij}`, :math:`\delta_{ij} = D(d) - D(d+1)`
    "2++"  :math:`l_i > l_j`      :math:`|G_i - G_j|\,(|D(r_i) - D(r_j)| + w_\delta\,\delta_{ij})`
    ====== ====================== ============================================================================

    With a cutoff k, :math:`D(r_i)` and :math:`D(r_j)` of "2++" are zero past k, and :math:`\delta_{ij}` is divided by
    :math:`1 - D(r)` where the lower rank r of the pair is past k: pairs below the cutoff still count, so that
    the bound holds. Logarithms are natural where the paper has log2, a constant factor. The curvature is
    :math:`\sigma^2 w \rho(1-\rho)`, the loss's own at fixed ranks.

    Parameters
    ----------
    metric : NDCG or CNDCG
        Gains, label source and cutoff. Scheme "1" has no cutoff: documents past it would never rise.
    scheme : "1", "2" or "2++"
        Which of the three losses.
    distance_weight : float
        :math:`w_\delta`, the weight of δ, the distance of the ranks, in "2++", ≥ 0: the paper's μ = 10.
    sigma : float
        Steepness of the logistic, > 0.

    Examples
    --------
    >>> from lambdaboost import LambdaLoss, Queries
    >>> grad, hess = LambdaLoss(scheme="2").gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4)  # δ/2, δ = 1 − 1/log2(3)
    array([ 0.1845, -0.1845], dtype=float32)
    >>> LambdaLoss(distance_weight=5.0)
    LambdaLoss(distance_weight=5.0)

    """

    metric: NDCG | CNDCG = NDCG()
    scheme: Scheme = "2++"
    distance_weight: float = 10.0
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dcg("metric", self.metric)
        check_choice("scheme", self.scheme, Scheme)
        check_number("distance_weight", self.distance_weight, 0, 1e6)
        if self.scheme != "2++" and self.distance_weight != 10:
            raise ValueError(
                f"distance_weight={self.distance_weight!r} belongs to scheme='2++': scheme={self.scheme!r} has no "
                "distance term"
            )
        check_sigma(self.sigma)
        if self.scheme == "1" and self.metric.k is not None:
            raise ValueError(
                f"metric is {self.metric!r}: scheme='1' has no cutoff, since documents past it would never rise; "
                "leave k out, or choose scheme='2' or '2++'"
            )

    def prepare(self, q: Queries) -> LambdaFunction:
        """The pairs of LambdaRank with weights of the scheme, or those of "1"."""
        if self.scheme != "1":
            # The pairs of LambdaRank with other weights: of the difference of the discounts, and of δ.
            rule = PairRule(self.metric.source, self.metric, sigma=self.sigma)
            of_discounts, of_distance = (1.0, self.distance_weight) if self.scheme == "2++" else (0.0, 1.0)
            return PreparedPairs(rule, q, RankDistance.of(q, self.metric.k, of_discounts, of_distance))

        # Each document against all others.
        offsets, sigma = q.offsets, float(self.sigma)
        gains = normalized_gains(self.metric, q).astype(np.float32)
        labelled = ~np.isnan(q.source(self.metric.source))
        discounts = 1 / np.log2(2.0 + np.arange(q.sizes.max()))

        def lambda_mu(now: Round) -> LambdaMu:
            lam, mu = np.zeros((2, now.scores.size))
            over_queries(
                _ndcg_loss_1_kernel, offsets, sigma, now.scores, ranking(now.scores, offsets), gains, labelled,
                discounts, lam, mu,
            )  # fmt: skip
            return sigma * lam, sigma**2 * mu

        return lambda_mu


@kernel
def _ndcg_loss_1_kernel(first, last, offsets, sigma, scores, order, gains, labelled, discounts, lam, mu):
    """NDCG-Loss1 of queries first:last."""
    most = longest(first, last, offsets)
    e, rho, rest = np.empty(most), np.empty(most), np.empty(most)
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        n = b - a
        near = scale_scores(sigma, scores[a:b], e[:n])
        for r in range(n):
            i = order[a + r]
            w = gains[a + i] * discounts[r]
            if w == 0:
                continue
            # Document i against every other one with a label, whatever their labels are.
            write_sigmoid_pairs(i, near, sigma, scores[a:b], e[:n], rho[:n], rest[:n])
            up, curvature = 0.0, 0.0
            for j in range(n):
                force = w * rho[j] * labelled[a + j]
                lam[a + j] -= force
                mu[a + j] += force * rest[j]
                up += force
                curvature += force * rest[j]
            lam[a + i] += up
            mu[a + i] += curvature
