"""`ExactPareto`: the point of the trade-off at which the costs are in given proportions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number
from lambdaboost.objectives.base.objective import Floats
from lambdaboost.objectives.combiners.combiner import Combiner, check_shares
from lambdaboost.objectives.combiners.gradients import Gradients
from lambdaboost.objectives.combiners.min_norm import shortest

BALANCED = 1e-4  # the divergence below which costs are in balance


class ExactPareto(Combiner):
    r"""Exact Pareto optimal search (Mahapatra and Rajan, ICML 2020): the point at which all :math:`r_k c_k` are equal.

    With :math:`c_k = 1 - Z_k` as in `Chebyshev`, :math:`\hat c_k = r_k c_k / \sum_j r_j c_j`, the divergence
    :math:`D = \sum_k \hat c_k \log(K \hat c_k)` and :math:`a_k = r_k(\log(K \hat c_k) - D)`, the weights α solve a
    linear program (the paper's Algorithm 1, with G the cosines of the λ in place of their inner products):

    .. math:: \max_{\alpha \ge 0,\; \sum \alpha = 1} \alpha^T G a \quad\text{where}\quad
        (G\alpha)_k \ge \begin{cases} 0 & r_k c_k \text{ is the largest} \\
        (Ga)_k & (Ga)_k \le 0, \end{cases}

    without a limit for the other costs; if :math:`Ga \le 0`, :math:`G\alpha \ge 0` in place of both. In balance,
    :math:`D \le 10^{-4}`, the paper lowers the sum of the costs, which is indifferent between two λ of one norm; here
    the direction is that of `MinNorm`, which lowers all costs at one rate.

    Parameters
    ----------
    preferences : tuple of floats > 0 that sum to 1, one for each objective
        r: an objective with twice the preference gets half the cost.

    Examples
    --------
    >>> from lambdaboost import ClickTier, ExactPareto, LambdaRank, Scorecard
    >>> Scorecard((LambdaRank(), ClickTier()), ExactPareto((0.7, 0.3))).sources
    ('relevance', 'clicks')

    """

    one_each: ClassVar[str] = "preferences"
    reads_costs: ClassVar[bool] = True

    preferences: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares("preferences", self.preferences)
        for at, preference in enumerate(self.preferences):
            check_number(f"preferences[{at}]", preference, above=0)

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The weights, 0 for objectives without force."""
        live = gradients.live
        weights = np.zeros(live.size)
        if live.any():
            preferred = np.array(self.preferences)[live] * gradients.costs[live]
            gram = gradients.cosines[np.ix_(live, live)]
            weights[live] = towards_balance(preferred, np.array(self.preferences)[live], gram)
        return weights


def towards_balance(preferred: Floats, preferences: Floats, gram: Floats) -> Floats:
    """The α of a step, for the costs times the preferences, and the cosines of the λ."""
    count = preferred.size
    if count == 1 or preferred.max() <= 0:
        return np.full(count, 1 / count)
    share = preferred / preferred.sum()
    logs = np.log(count * np.maximum(share, np.finfo(np.float64).tiny))
    divergence = float((share * logs).sum())
    anchor = gram @ (preferences * (logs - divergence))
    if divergence <= BALANCED:
        return shortest(gram)
    rising = anchor > 0
    # Costs that the step may raise have no limit, except the largest, which may not rise.
    least = np.where(rising, -np.inf, anchor) if rising.any() else np.zeros(count)
    if rising.any():
        least[preferred == preferred.max()] = 0.0
    best = _linear_program(anchor, gram, least)
    return shortest(gram) if best is None else best


def _linear_program(gain: Floats, gram: Floats, least: Floats) -> Floats | None:
    """The α ≥ 0 with sum 1 that maximises gain'α where Gα ≥ least; None if there is none."""
    from scipy.optimize import linprog

    bound = np.isfinite(least)
    found = linprog(-gain, -gram[bound], -least[bound], np.ones((1, gain.size)), [1.0], bounds=(0, 1))
    if found.status != 0:
        return None
    alpha = np.maximum(found.x, 0.0)
    return np.asarray(alpha / alpha.sum())
