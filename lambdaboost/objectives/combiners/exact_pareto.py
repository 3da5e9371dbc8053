"""`ExactPareto`: the point of the trade-off at which the costs are in given proportions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.objectives.base.objective import Floats
from lambdaboost.objectives.base.registry import COMBINERS
from lambdaboost.objectives.combiners.combiner import Combiner, Weights, check_length, shares_of
from lambdaboost.objectives.combiners.min_norm import shortest
from lambdaboost.objectives.combiners.parts import Parts

BALANCED = 1e-4  # the divergence below which costs are in balance


@COMBINERS.add
@dataclass(frozen=True, repr=False)
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

    Raises
    ------
    TypeError, ValueError
        For preferences that are not two or more numbers > 0 with sum 1.

    Examples
    --------
    >>> from lambdaboost import ClickTier, ExactPareto, LambdaRank, Scorecard
    >>> Scorecard((LambdaRank(), ClickTier()), ExactPareto((0.7, 0.3))).sources
    ('relevance', 'clicks')

    """

    reads_costs: ClassVar[bool] = True

    preferences: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "preferences", shares_of("preferences", self.preferences))
        if 0 in self.preferences:
            raise ValueError(
                f"preferences is {self.preferences!r}: each must be > 0, since 0 would allow an infinite cost; "
                "leave the objective out instead"
            )

    def check_parts(self, count: int) -> None:
        """Raise ValueError unless there is one preference for each."""
        check_length("preferences", self.preferences, count)

    def weigh(self, parts: Parts) -> Weights:
        """The weights, 0 for objectives without force."""
        live = parts.live
        weights = np.zeros(live.size)
        if live.any():
            preferred = np.array(self.preferences)[live] * parts.costs[live]
            gram = parts.cosines[np.ix_(live, live)]
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
    return _best(anchor, gram, least)


def _best(gain: Floats, gram: Floats, least: Floats) -> Floats:
    """The α ≥ 0 with sum 1 that maximises gain'α where Gα ≥ least; the shortest combination if there is none."""
    found = _of_two(gain, gram, least) if gain.size == 2 else _linear_program(gain, gram, least)
    return shortest(gram) if found is None else found


def _of_two(gain: Floats, gram: Floats, least: Floats) -> NDArray[np.float64] | None:
    """For two objectives: α = (1 − t, t), t at an end of the interval that the constraints leave."""
    low, high = 0.0, 1.0
    for (at_0, at_1), bound in zip(gram, least, strict=True):
        slope, room = at_1 - at_0, bound - at_0  # slope · t ≥ room
        if slope > 0:
            low = max(low, room / slope)
        elif slope < 0:
            high = min(high, room / slope)
        elif room > 0:
            return None
    if low > high:
        return None
    t = high if gain[1] > gain[0] else low
    return np.array([1 - t, t])


def _linear_program(gain: Floats, gram: Floats, least: Floats) -> NDArray[np.float64] | None:
    from scipy.optimize import linprog

    bound = np.isfinite(least)
    found = linprog(
        -gain,
        A_ub=-gram[bound],
        b_ub=-least[bound],
        A_eq=np.ones((1, gain.size)),
        b_eq=[1.0],
        bounds=(0, 1),
        method="highs",
    )
    return np.maximum(found.x, 0.0) / np.maximum(found.x, 0.0).sum() if found.status == 0 else None
