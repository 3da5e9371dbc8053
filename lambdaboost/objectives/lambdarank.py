"""LambdaRank: pairs weighted by the change of a measure when the two documents swap."""

from __future__ import annotations

from lambdaboost._checks import check_sigma
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.pair_objective import PairObjective
from lambdaboost.objectives.swaps import check_swap


class LambdaRank(PairObjective):
    r"""The λ-gradient of a measure (Burges, Ragno and Le 2006; 2011 paper, eqs. 4-6): λ^L.

    For a pair with :math:`l_i > l_j`, :math:`\rho = 1/(1 + e^{\sigma(s_i - s_j)})`:
    :math:`\lambda = \sigma\,|\Delta Z|\,\rho` and :math:`\mu = \sigma^2\,|\Delta Z|\,\rho(1-\rho)`, where
    :math:`\Delta Z` is the change of the measure Z when i and j swap ranks in the current order; μ is eq. 8.
    :math:`p < r` are the two ranks and u is the document at rank p. For binary measures i is relevant and j is not.

    =================== =======================================================================================
    Z                   :math:`|\Delta Z|`
    =================== =======================================================================================
    NDCG@k, CNDCG@k     :math:`|(2^{l_i} - 2^{l_j})(D(r_i) - D(r_j))| / Z^*`, D zero past k
    Precision@k         :math:`1/k` where :math:`p \le k < r`; Precision@1 is winner takes all
    Recall@k            :math:`1/m` where :math:`p \le k < r`
    MAP@k               :math:`\frac1M |C(p)v(p) - C(r)v(r) + S(r) - S(p)|`, C one higher where j is above
    MRR@k               :math:`|\max(v(r_j), x_i) - Z|`
    ERR@k               :math:`|R_i - R_j| \, (V(p) - V(r)) / (1 - R_u)`
    PairAccuracy        :math:`(1 + \sum_{p < t < r} (\mathrm{sgn}(l_i - l_t) - \mathrm{sgn}(l_j - l_t))) / N`
    Spearman            :math:`|r_i - r_j|\,|b_i - b_j| / (AB)`, r the ranks of documents with a label
    =================== =======================================================================================

    The letters of each row; the modules of `lambdaboost.objectives.swaps` derive them:

    - NDCG: D is the discount, Z* the DCG of the best order.
    - Recall: m is the number of relevant documents.
    - MAP: v(r) = 1/r, 0 past k; C(r) counts the relevant documents up to rank r, and S(r) sums v over their ranks; M is
      m, or k if that is less.
    - MRR: v as for MAP; :math:`x_i` is the reciprocal rank of the first of the other relevant documents.
    - ERR: :math:`R_i` is the probability that i satisfies and R(t) that of the document at rank t, Q(r) the product of
      1 − R(t) above rank r, and :math:`V(r) = \sum_{t<r} R(t) Q(t)/t + Q(r)/r`, terms past k zero.
    - PairAccuracy: N is the number of pairs of different labels.
    - Spearman: b are the ranks of the labels less their mean, ties averaged; :math:`B^2 = \sum b^2` and, for n
      documents, :math:`A^2 = n(n^2-1)/12`.

    A pair on the same side of a binary measure's threshold has weight 0.

    KendallTau is 2 · PairAccuracy − 1: give ``PairAccuracy(source=…)`` in its place, which has the same order.

    Parameters
    ----------
    metric : NDCG, CNDCG, MAP, MRR, ERR, Precision, Recall, PairAccuracy or Spearman
        The measure Z; pairs are of different labels in its source.
    sigma : float
        Steepness of the logistic, > 0.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, NDCG, Queries
    >>> grad, hess = LambdaRank(NDCG(k=3)).gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4)  # |ΔNDCG|/2, |ΔNDCG| = 1 − 1/log2(3)
    array([ 0.1845, -0.1845], dtype=float32)

    λ of a query in NumPy, as a matrix over pairs of a row i and a column j:

    >>> import numpy as np
    >>> scores, grades = np.array([0.9, 0.5, 0.1]), np.array([0, 2, 1])  # in the order of the scores
    >>> gain, discount = 2.0**grades - 1, 1 / np.log2([2, 3, 4])
    >>> ideal = np.sort(gain)[::-1] @ discount
    >>> delta_ndcg = abs(np.subtract.outer(gain, gain) * np.subtract.outer(discount, discount)) / ideal
    >>> rho = 1 / (1 + np.exp(np.subtract.outer(scores, scores)))
    >>> lam = np.greater.outer(grades, grades) * delta_ndcg * rho
    >>> (lam.sum(axis=1) - lam.sum(axis=0)).round(4)
    array([-0.2776,  0.2115,  0.0661])
    >>> -LambdaRank().gradient(scores, Queries(grades, sizes=[3]))[0].round(4)
    array([-0.2776,  0.2115,  0.0661], dtype=float32)

    """

    metric: Measure = NDCG()
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_swap("metric", self.metric)
        check_sigma(self.sigma)

    @property
    def rule(self) -> PairRule:
        """Pairs of different labels, weighted by the swap."""
        return PairRule(self.metric.source, self.metric, sigma=self.sigma)
