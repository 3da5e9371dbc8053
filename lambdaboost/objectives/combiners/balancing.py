"""Combiners that balance λ or costs: `MinNorm`, `Chebyshev` and `ExactPareto`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number
from lambdaboost.objectives.base.objective import Floats
from lambdaboost.objectives.combiners.combiner import Combiner, check_sum
from lambdaboost.objectives.combiners.gradients import Gradients

TEMPERATURE = 0.05  # of `Chebyshev`
BALANCED = 1e-4  # the divergence below which costs are in balance


class MinNorm(Combiner):
    r"""The shortest convex combination of the λ, scaled to one norm: multiple gradient descent (Désidéri 2012).

    .. math:: \min_{\alpha \ge 0,\; \sum \alpha = 1}
        \lVert \sum_k \alpha_k \frac{\lambda_k}{\lVert\lambda_k\rVert} \rVert^2

    Every objective with a positive weight improves at the same rate along it, the others at least as fast. Of two
    scaled λ it always weights both 1/2; with three and more the weights change, and an objective that others already
    improve gets weight 0.

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, MinNorm, RankNet, Scorecard
    >>> Scorecard((LambdaRank(), RankNet(), ClickTier()), MinNorm()).sources
    ('relevance', 'clicks')

    """

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The weights, 0 for objectives without force."""
        live = gradients.live
        if live.sum() <= 2:
            return live / max(live.sum(), 1)
        return gradients.of_live(shortest(gradients.cosines))


class Chebyshev(Combiner):
    r"""Weighted Chebyshev scalarisation: lower the largest of :math:`w_k c_k`, where :math:`c_k = 1 - Z_k`.

    .. math:: \alpha_k \propto \exp\Big(\frac{1}{T}\,\frac{w_k c_k}{\max_j w_j c_j}\Big),

    (Steuer and Choo 1983, smoothed as by Lin et al. 2024): a soft maximum, with T = 0.05, since a hard one would jump
    between objectives. The further factor :math:`w_k` of its gradient is left out, for all λ have one norm.
    :math:`Z_k` is the measure of objective k (`Objective.measure`) on the training data, over the queries on which it
    is defined. A sum of costs reaches only the convex part of the trade-off; the largest cost reaches all of it.

    Parameters
    ----------
    weights : tuple of floats > 0, one for each objective

    Examples
    --------
    >>> from lambdaboost import Chebyshev, LambdaRank, RankNet, Scorecard
    >>> Scorecard((LambdaRank(), RankNet()), Chebyshev((1.0, 2.0)))
    Scorecard(objectives=(LambdaRank(), RankNet()), weights=Chebyshev(weights=(1.0, 2.0)))

    """

    one_each: ClassVar[str] = "weights"
    reads_costs: ClassVar[bool] = True

    weights: tuple[float, ...]

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The soft maximum, among the objectives with any force."""
        live = gradients.live
        costs = np.where(live, np.array(self.weights) * gradients.costs, 0.0)
        if costs.max() <= 0:
            return live / max(live.sum(), 1)
        soft = np.where(live, np.exp((costs / costs.max() - 1) / TEMPERATURE), 0.0)
        return soft / soft.sum()


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
        check_sum("preferences", self.preferences)

    def check_entry(self, name: str, entry: Any) -> None:
        """Preferences are > 0 and at most 1."""
        check_number(name, entry, 0, 1, above=0)

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The weights, 0 for objectives without force."""
        live = gradients.live
        if not live.any():
            return np.zeros(live.size)
        preferences = np.array(self.preferences)[live]
        costs = preferences * gradients.costs[live]
        return gradients.of_live(towards_balance(costs, preferences, gradients.cosines))


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


def shortest(gram: Floats) -> Floats:
    """The α ≥ 0 with sum 1 that minimises α'Gα, for the inner products G of some vectors of length 1."""
    count = len(gram)
    if count <= 2:
        return np.full(count, 1 / count)
    from scipy.optimize import nnls

    # With G = U'U, the x ≥ 0 that minimises ‖Ux‖² + (Σx − 1)² is the shortest combination times a number.
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    x, _ = nnls(np.vstack([root, np.ones(count)]), np.append(np.zeros(count), 1.0))
    return np.asarray(x / x.sum())
