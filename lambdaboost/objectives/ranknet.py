"""RankNet: the cross-entropy of all pairs, each with the same weight."""

from __future__ import annotations

from lambdaboost._checks import check_sigma
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.pair_objective import PairObjective


class RankNet(PairObjective):
    r"""The pairwise cross-entropy of all pairs of different labels (Burges et al. 2005; 2011, eqs. 2-3).

    For a pair with :math:`l_i > l_j`, :math:`o = s_i - s_j` and :math:`\rho = 1/(1 + e^{\sigma o})`: document i gets
    :math:`\lambda = \sigma\rho`, document j :math:`-\lambda`, both :math:`\mu = \sigma^2\rho(1-\rho)`.

    Parameters
    ----------
    sigma : float
        Steepness of the logistic, > 0.
    source : str
        The label source.

    Examples
    --------
    >>> from lambdaboost import Queries, RankNet
    >>> grad, hess = RankNet().gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad, hess
    (array([ 0.5, -0.5], dtype=float32), array([0.25, 0.25], dtype=float32))

    """

    sigma: float = 1.0
    source: str = RELEVANCE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sigma(self.sigma)

    @property
    def rule(self) -> PairRule:
        """The pairs, swap and force."""
        return PairRule(self.source, sigma=self.sigma)
