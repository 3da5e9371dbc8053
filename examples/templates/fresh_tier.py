"""A template of an objective: copy it to lambdaboost/objectives/, rename it, and change the rule of its pairs.

The example orders documents of equal grade by a second label source, as `ClickTier` does, with RankNet's weights.
"""

from __future__ import annotations

from lambdaboost._checks import check_sigma
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.pair_objective import PairObjective


class FreshTier(PairObjective):
    r"""RankNet on a second source: pairs that tie in `relevance` and differ in `source`.

    For :math:`l_i = l_j` and :math:`f_i > f_j`, :math:`\rho = 1/(1 + e^{\sigma(s_i - s_j)})`: :math:`\lambda =
    \sigma\rho` and :math:`\mu = \sigma^2\rho(1-\rho)`. Name the paper and the number of the equation here.

    Parameters
    ----------
    source : str
        The label source that orders documents of equal grade.
    sigma : float
        Steepness of the logistic, > 0.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> q = Queries([1, 1, 0], sizes=[3], fresh=[0.2, 0.7, 0.9])
    >>> grad, hess = FreshTier().gradient([0.0, 0.0, 0.0], q)
    >>> grad, hess  # the third ties with no other
    (array([ 0.5, -0.5,  0. ], dtype=float32), array([0.25, 0.25, 0.  ], dtype=float32))

    """

    source: str = "fresh"
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sigma(self.sigma)

    @property
    def rule(self) -> PairRule:
        """Which pairs count, what weights them (a measure's |ΔZ|, or 1) and which force pushes them."""
        return PairRule(self.source, within=("relevance",), sigma=self.sigma)
