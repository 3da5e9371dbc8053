"""YetiLoss: pair weights from rankings by scores with noise, the force from the scores without."""

from __future__ import annotations

from lambdaboost._checks import MAX_SIGMA, check_number, check_whole
from lambdaboost.evaluation import NDCG, Measure, PairAccuracy
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.pair_objective import PairObjective
from lambdaboost.objectives.swaps import check_swap


class YetiLoss(PairObjective):
    r"""A YetiRank-style loss: LambdaRank with weights from noisy rankings (YetiLoss; Lyzhin et al., ICML 2023).

    For a pair with :math:`l_i > l_j`, the force is RankNet's at the scores, :math:`\rho = 1/(1 + e^{s_i - s_j})`,
    :math:`\lambda = w\rho` and :math:`\mu = w\rho(1-\rho)`. The weight w comes from T rankings :math:`\pi_t` by
    :math:`s + \beta G_t`, G standard Gumbel noise drawn anew for each document, draw and round, so that each ranking is
    one of the Plackett-Luce model with utilities s/β. For NDCG and CNDCG,

    .. math:: w = \frac{|g_i - g_j| \, |m_i - m_j|}{Z^*}, \qquad m_i = \frac{1}{T} \sum_t D(\pi_t(i)),

    with the gains g, the ideal :math:`Z^*` and the discounts D of the measure, 0 past its cutoff. For other measures

    .. math:: w = \frac{1}{T} \sum_t |Z(\pi_t) - Z(\pi_t \text{ with i and j swapped})|,

    which costs T sums over the pairs. Every document can have a weight, even below a cutoff, and pairs whose scores are
    close count although their order is uncertain: `LambdaRank` weights the one order of the moment and overfits it.

    Weights from noisy rankings and a force from the scores are the rule of Lyzhin et al. CatBoost's YetiRank draws
    logistic noise (its option ``Gumbel``) and by default pairs only neighbours of each ranking; since version 1.2.1 its
    ``mode=NDCG`` and others are of this family. Here noise is Gumbel and all pairs count. λ is not the gradient of an
    expected measure: the noise is in the weights only.

    It does not help every measure: on MRR it is level with LightGBM's ``lambdarank``, and `YetiLoss` of MRR or MAP
    gives away NDCG of graded labels. For the order of a whole list use `RankNet`. Figures are on the page "Which
    objective?".

    Parameters
    ----------
    metric : Measure
        The measure Z of the swaps, any that `LambdaRank` takes except PairAccuracy; pairs are of different labels in
        its source, so ``YetiLoss(CNDCG())`` orders by clicks.
    beta : float
        β, in units of the score, ≥ 0 and ≤ 1e15; 0 is ``LambdaRank(metric)``.
        Scores minus the query's best score get noise in float32, so ranks lose precision where scores differ by more
        than 10,000 or β is below a millionth of their range.
    draws : int
        T, ≥ 1.
    seed : int
        ≥ 0. Noise is a function of the seed, the round, the draw, the document's place in its query, and the query's
        own labels and score differences: bit-identical for any number of threads, any order of the queries and any
        subset of them.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaboost import Queries, YetiLoss
    >>> grad, hess = YetiLoss().gradient([0.2, 0.1, 0.0], Queries([0, 1, 2], sizes=[3]))
    >>> bool(grad[0] > 0 > grad[2])
    True

    """

    metric: Measure = NDCG()
    beta: float = 1.0
    draws: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_swap("metric", self.metric)
        if isinstance(self.metric, PairAccuracy):
            raise TypeError(
                f"metric is {self.metric!r}, whose swaps count all pairs alike: expected another measure of "
                "LambdaRank, such as NDCG(); RankNet() is an objective for PairAccuracy"
            )
        check_number("beta", self.beta, 0, MAX_SIGMA)  # past 1e37 noise would leave the range of float32
        check_whole("draws", self.draws, 1)
        check_whole("seed", self.seed, 0)

    @property
    def rule(self) -> PairRule:
        """Pairs of different labels, weighted by the swaps in noisy rankings."""
        return PairRule(self.metric.source, self.metric, beta=self.beta, draws=self.draws, seed=self.seed)
