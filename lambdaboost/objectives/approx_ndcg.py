"""ApproxNDCG: NDCG of smooth ranks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lambdaboost._checks import MAX_SIGMA, check_number
from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, NDCG
from lambdaboost.evaluation.rankings import longest
from lambdaboost.objectives.kernels.prepared import Round
from lambdaboost.objectives.kernels.sigmoid import scale_scores, write_sigmoid_pairs
from lambdaboost.objectives.objective import LambdaFunction, LambdaMu, Needs, Objective
from lambdaboost.objectives.swaps.dcg import check_dcg, normalized_gains


class ApproxNDCG(Objective):
    r"""One minus NDCG at approximate ranks (Qin, Liu and Li 2010).

    :math:`\hat\pi_i = 1 + \sum_{j \ne i} \rho_{ij}`, with :math:`\rho_{ij} = 1/(1 + e^{\alpha(s_i - s_j)})`,
    approximates the rank of document i. With G the gain over the ideal DCG and
    :math:`c_i = G_i \ln 2 / ((1 + \hat\pi_i) \ln^2(1 + \hat\pi_i))`, the slope of the cost in the rank, the cost
    :math:`1 - \sum_i G_i / \log_2(1 + \hat\pi_i)` has the gradient of

    .. math:: \lambda_i = \alpha \sum_{j \ne i} (c_i - c_j)\,\rho_{ij}(1 - \rho_{ij}).

    The cost is not convex. The curvature used is :math:`\mu_i = \alpha^2 \sum_j (c_i + c_j)\,\rho_{ij}(1 - \rho_{ij})`,
    an upper bound of the second derivative in :math:`s_i`, which keeps Newton steps below 1/α. A document without a
    label (NaN) counts in the ranks of others but has no force.

    Parameters
    ----------
    metric : NDCG or CNDCG
        Gains and label source; without a cutoff.
    alpha : float
        Steepness of the approximation, > 0. The higher, the closer to the true ranks, and the fewer pairs have a force.

    Examples
    --------
    >>> from lambdaboost import ApproxNDCG, Queries
    >>> grad, hess = ApproxNDCG(alpha=1.0).gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4)  # c/4 at rank 1.5, c = ln 2 / (2.5 ln² 2.5)
    array([ 0.0826, -0.0826], dtype=float32)

    """

    metric: NDCG | CNDCG = NDCG()
    alpha: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dcg("metric", self.metric)
        if self.metric.k is not None:
            raise ValueError(
                f"metric is {self.metric!r}: approximate ranks have no cutoff; leave k out, "
                "or choose LambdaLoss or LambdaRank, which truncate"
            )
        check_number("alpha", self.alpha, high=MAX_SIGMA, above=0)

    @property
    def needs(self) -> Needs:
        """Ties count alike."""
        return replace(super().needs, ties_by_row=False)

    def prepare(self, q: Queries) -> LambdaFunction:
        """The forces between smooth ranks, by gains over the ideal DCG."""
        offsets, alpha = q.offsets, float(self.alpha)
        gains = normalized_gains(self.metric, q).astype(np.float32)
        labelled = ~np.isnan(q.source(self.metric.source))

        def lambda_mu(now: Round) -> LambdaMu:
            lam, mu = np.zeros((2, now.scores.size))
            over_queries(_approx_ndcg_kernel, offsets, alpha, now.scores, gains, labelled, lam, mu)
            return alpha * lam, alpha**2 * mu

        return lambda_mu


@kernel
def _approx_ndcg_kernel(first, last, offsets, alpha, scores, gains, labelled, lam, mu):
    most = longest(first, last, offsets)
    e, rho, rest = np.empty(most), np.empty(most), np.empty(most)
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        n = b - a
        near = scale_scores(alpha, scores[a:b], e[:n])
        for i in range(n):
            if gains[a + i] == 0:
                continue
            write_sigmoid_pairs(i, near, alpha, scores[a:b], e[:n], rho[:n], rest[:n])
            rank = 1.0
            for j in range(n):
                rank += rho[j]
            # c_i, the slope of the cost in the rank; its force is between document i and every other one with a label.
            log = math.log(1 + rank)
            c = gains[a + i] * math.log(2.0) / ((1 + rank) * log * log)
            total = 0.0
            for j in range(n):
                force = c * rho[j] * rest[j] * labelled[a + j]
                lam[a + j] -= force
                mu[a + j] += force
                total += force
            lam[a + i] += total
            mu[a + i] += total
