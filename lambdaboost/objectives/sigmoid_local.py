"""SigmoidLocal: forces between documents of similar score only."""

from __future__ import annotations

from lambdaboost._checks import check_number
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.pair_objective import PairObjective
from lambdaboost.objectives.swaps import check_swap


class SigmoidLocal(PairObjective):
    r"""The sigmoid-local λ-gradient of the 2011 paper, λ^S (eqs. 13-15); ``SigmoidLocal(NDCG(3))`` is λ^{S@3} (eq. 16).

    For a pair with :math:`l_i > l_j` and :math:`t = e^{s_i - s_j + c}`:
    :math:`\lambda = |\Delta Z|\, t/(1+t)^2` and :math:`\mu = |\Delta Z|\, t(t-1)/(1+t)^3`,
    so the force vanishes for pairs far apart in either direction. μ, minus the slope of the force, changes sign, so no
    Newton step can use it (§5.3): on an engine use it within `GradientStep`, as the paper does.

    Parameters
    ----------
    metric : Measure
        The measure Z whose change by a swap weights a pair, any that `LambdaRank` takes.
    center : float
        c, the "center" μ of the paper; the force of a pair is largest at :math:`s_i - s_j = -c`.

    Examples
    --------
    >>> from lambdaboost import Queries, SigmoidLocal
    >>> grad, hess = SigmoidLocal().gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4)  # |ΔNDCG|/4, |ΔNDCG| = 1 − 1/log2(3)
    array([ 0.0923, -0.0923], dtype=float32)

    """

    metric: Measure = NDCG()
    center: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_swap("metric", self.metric)
        check_number("center", self.center, -50, 50)

    @property
    def rule(self) -> PairRule:
        """The pairs, swap and force."""
        return PairRule(self.metric.source, self.metric, center=self.center, local=True)
