"""LambdaRank: pairs weighted by the change of a measure when the two documents swap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.base.checks import check_sigma
from lambdaboost.objectives.base.objective import Floats, Objective
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.kernels.pair_rule import Derivatives, PairRule
from lambdaboost.objectives.native.conventions import NativeConvention, convention_of
from lambdaboost.objectives.swaps.registry import check_swap

Convention = Literal["paper", "lightgbm", "xgboost"]


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class LambdaRank(Objective):
    r"""The λ-gradient of a measure (Burges, Ragno and Le 2006; 2011 paper, eqs. 4-8): λ^L.

    For a pair with :math:`l_i > l_j`, :math:`\rho = 1/(1 + e^{\sigma(s_i - s_j)})`:
    :math:`\lambda = \sigma\,|\Delta Z|\,\rho` and :math:`\mu = \sigma^2\,|\Delta Z|\,\rho(1-\rho)`, where
    :math:`\Delta Z` is the change of the measure Z when i and j swap ranks in the current order. With p the higher and
    r the lower of their ranks, u the document at p, i a relevant document and j another where Z is binary:

    =================== =======================================================================================
    Z                   :math:`|\Delta Z|`
    =================== =======================================================================================
    NDCG@k, CNDCG@k     :math:`|(2^{l_i} - 2^{l_j})(D(r_i) - D(r_j))| / Z^*`, D zero past k
    Precision@k, WTA    :math:`1/k` where :math:`p \le k < r`; WTA is Precision@1
    MAP@k               :math:`\frac1M |C(p)v(p) - C(r)v(r) + S(r) - S(p)|`, C one higher where j is above
    MRR@k               :math:`|\max(v(r_j), x_i) - Z|`, x_i what the other relevant documents give
    ERR@k               :math:`|R_i - R_j| \, (V(p) - V(r)) / (1 - R_u)`
    PairAccuracy        :math:`(1 + \sum_{p < \rho < r} \mathrm{sgn}(l_i - l_\rho) - \mathrm{sgn}(l_j - l_\rho)) / N`
    Spearman            :math:`|r_i - r_j|\,|b_i - b_j| / (AB)`, r the ranks of documents with a label
    =================== =======================================================================================

    R and N are the relevant documents and the pairs of the query, M = min(R, k), and v(r) = 1/r, 0 past k; C(r) counts
    the relevant documents up to rank r and S(r) sums v over their ranks; R_i is the probability that i satisfies, P(r)
    the product of 1 − R above rank r, and :math:`V(r) = \sum_{\rho<r} R(\rho) P(\rho)/\rho + P(r)/r`, terms past k
    zero; b are the ranks of the labels less their mean, ties averaged, :math:`B^2 = \sum b^2`, and
    :math:`A^2 = n(n^2-1)/12`.
    A pair on the same side of a binary measure's threshold has weight 0.

    Parameters
    ----------
    metric : NDCG, CNDCG, MAP, MRR, ERR, WTA, Precision, PairAccuracy or Spearman
        The measure Z; pairs are of different labels in its source.
    sigma : float
        Steepness of the logistic, > 0.
    convention : "paper", "lightgbm" or "xgboost"
        The papers' rule, or a copy of an engine's own objective: LightGBM's ``lambdarank``, or XGBoost's ``rank:ndcg``
        with top-k pairs. In both, discounts go on past the truncation and weights are divided by score differences.
        XGBoost's trees are the same with the same ``base_score``; by default ``rank:ndcg`` fits one of about 1e-9.
    truncation : int, optional
        Only with an engine's convention: LightGBM's ``lambdarank_truncation_level`` (30), XGBoost's
        ``lambdarank_num_pair_per_sample`` (32). In the paper's convention the measure has the cutoff: ``NDCG(k=30)``.
    norm : bool, optional
        Only with an engine's convention: ``lambdarank_norm`` or ``lambdarank_normalization`` (True).
    score_norm : bool, optional
        Only with XGBoost's convention: ``lambdarank_score_normalization`` (True).

    Examples
    --------
    >>> from lambdaboost import LambdaRank, NDCG, Queries
    >>> grad, hess = LambdaRank(NDCG(k=3)).gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4)  # |ΔNDCG|/2, |ΔNDCG| = 1 − 1/log2(3)
    array([ 0.1845, -0.1845], dtype=float32)
    >>> LambdaRank(convention="lightgbm", truncation=10)
    LambdaRank(convention='lightgbm', truncation=10)

    """

    metric: Measure = NDCG()
    sigma: float = 1.0
    convention: Convention = "paper"
    truncation: int | None = None
    norm: bool | None = None
    score_norm: bool | None = None

    def __post_init__(self) -> None:
        check_swap("metric", self.metric)
        check_sigma(self.sigma)
        native = self._native
        if native is not None:
            native.check(self.metric, self.sigma)

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return (self.metric.source,)

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return self._native is None and self.metric.allows_negative

    @property
    def rule(self) -> PairRule | None:
        """The pairs, swap and force in the paper's convention."""
        return self._pairs if self._native is None else None

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None."""
        native = self._native
        return q.weight if native is None else native.row_weights(q)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document."""
        native = self._native
        if native is None:
            return self._pairs.lambdas(scores, q)
        grad, hess = native.gradient(scores, q, self.metric, self.sigma)  # type: ignore[arg-type]
        return -grad.astype(np.float64), hess.astype(np.float64)

    @property
    def _pairs(self) -> PairRule:
        return PairRule(self.metric.source, self.metric, sigma=self.sigma)

    @property
    def _native(self) -> NativeConvention | None:
        """The engine's convention; None for the paper's."""
        options = {"truncation": self.truncation, "norm": self.norm, "score_norm": self.score_norm}
        return convention_of(self.convention, options)
