"""SPSA: the slope of a measure in all scores at once, from two evaluations a draw."""

from __future__ import annotations

import numpy as np

from lambdaboost._checks import check_whole
from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.black_box import BlackBox, per_query
from lambdaboost.objectives.base.objective import Floats, LambdaMu


class SPSA(BlackBox):
    r"""Simultaneous perturbation of all scores (Spall 1992; Yue and Burges 2007, section 4.1).

    .. math:: \lambda_i = \frac{1}{\Delta_i} \cdot \frac{Z(s + c\Delta) - Z(s - c\Delta)}{2c}, \qquad \mu_i = 1,

    with Δ_i = ±1 with equal probability and Z the measure of the query of document i; λ is the mean over `draws` draws
    of Δ. To first order in the step, its expectation is the slope that `FiniteDifference` estimates one document at a
    time; the 2007 paper's SPSA:F is ``draws=F/2``. μ = 1 as in `FiniteDifference`: for training, wrap it in
    `GradientStep` or use ``leaves="gradient"``.

    Parameters
    ----------
    metric : measure or callable
        As in `FiniteDifference`.
    step : float
        c, in units of the score, > 0.
    draws : int
        Draws of Δ per round, ≥ 1, two evaluations each.
    seed : int
        ≥ 0. The draws of a round depend on the seed, the round and the number of documents only.

    Examples
    --------
    >>> from lambdaboost import NDCG, Queries, SPSA
    >>> objective = SPSA(NDCG(k=10), step=0.5, draws=8)
    >>> q = Queries([0, 1], sizes=[2])
    >>> grad, hess = objective.gradient([0.1, 0.0], q, iteration=3)
    >>> bool(grad[0] > 0 > grad[1]), hess
    (True, array([1., 1.], dtype=float32))

    """

    draws: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("draws", self.draws, 1)
        check_whole("seed", self.seed, 0)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ of every document at a round, and ones."""
        rng = np.random.default_rng((self.seed, iteration))
        lam = np.zeros(q.n_documents)
        for _ in range(self.draws):
            delta = 2.0 * rng.integers(0, 2, q.n_documents) - 1.0
            up, down = scores + self.step * delta, scores - self.step * delta
            slope = (per_query(self.metric, up, q) - per_query(self.metric, down, q)) / (2 * self.step)
            lam += np.repeat(slope, q.sizes) / delta
        return lam / self.draws, np.ones(q.n_documents)
