"""A measure's own slope in the scores, measured: `FiniteDifference` and `SPSA` (Yue and Burges 2007, section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost import NDCG, Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective

Floats = NDArray[np.float64]


class FiniteDifference(Objective, registered=False):
    r"""The two-sided difference of a measure in each score (Yue and Burges 2007, section 4, FDSA).

    .. math:: \lambda_i = \frac{Z(s + c\,e_i) - Z(s - c\,e_i)}{2c}, \qquad \mu_i = 1,

    with Z the measure of the query of document i. Measures are piecewise constant, so the step c must reach past the
    scores of other documents. There is no curvature: with μ = 1 an engine's Newton step is the mean λ of a leaf, as in
    `GradientStep`, which also scales the λ of every query to unit spread and is the better choice for training:
    ``GradientStep(FiniteDifference(NDCG(k=10)))``. A query of n documents takes 2n evaluations of n documents a round.

    Parameters
    ----------
    metric : Measure
    step : float
        c, in units of the score, > 0.

    Examples
    --------
    >>> q = Queries([0, 1], sizes=[2])
    >>> grad, hess = FiniteDifference(NDCG(k=1), step=0.5).gradient([0.1, 0.0], q)
    >>> grad, hess  # either document's move of 0.5 turns the order, one way only: 1 / (2 · 0.5)
    (array([ 1., -1.], dtype=float32), array([1., 1.], dtype=float32))

    """

    metric: Measure = NDCG()
    step: float = 1.0

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ of every document, and ones."""
        # All at once, each document's on a copy of its query.
        rows = q.query_of_row
        copies, copied = q.take(rows), scores[q.rows_of(rows)]
        moved = np.zeros(copied.size)
        moved[copies.offsets[:-1] + np.arange(q.n_documents) - q.offsets[rows]] = self.step
        return _slope(self.metric, copied, moved, copies, self.step), np.ones(q.n_documents)


class SPSA(Objective, registered=False):
    r"""Simultaneous perturbation of all scores (Spall 1992; Yue and Burges 2007, section 4.1).

    .. math:: \lambda_i = \frac{1}{\Delta_i} \cdot \frac{Z(s + c\Delta) - Z(s - c\Delta)}{2c}, \qquad \mu_i = 1,

    with Δ_i = ±1 with equal probability and Z the measure of the query of document i; λ is the mean over `draws` draws
    of Δ. To first order in the step, its expectation is the slope that `FiniteDifference` estimates one document at a
    time; the 2007 paper's SPSA:F is ``draws=F/2``. μ = 1 as in `FiniteDifference`: for training, wrap it in
    `GradientStep`.

    Parameters
    ----------
    metric : Measure
    step : float
        c, in units of the score, > 0.
    draws : int
        Draws of Δ per round, ≥ 1, two evaluations each.
    seed : int
        ≥ 0. The draws of a round depend on the seed, the round and the number of documents only.

    Examples
    --------
    >>> objective = SPSA(NDCG(k=10), step=0.5, draws=8)
    >>> grad, hess = objective.gradient([0.1, 0.0], Queries([0, 1], sizes=[2]), iteration=3)
    >>> bool(grad[0] > 0 > grad[1]), hess
    (True, array([1., 1.], dtype=float32))

    """

    metric: Measure = NDCG()
    step: float = 1.0
    draws: int = 4
    seed: int = 0

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ of every document at a round, and ones."""
        rng = np.random.default_rng((self.seed, iteration))
        lam = np.zeros(q.n_documents)
        for _ in range(self.draws):
            delta = 2.0 * rng.integers(0, 2, q.n_documents) - 1.0
            lam += np.repeat(_slope(self.metric, scores, self.step * delta, q, self.step), q.sizes) / delta
        return lam / self.draws, np.ones(q.n_documents)


def _slope(metric: Measure, scores: Floats, moved: NDArray[Any], q: Queries, step: float) -> Floats:
    """The slope of each query in the direction `moved`, (n_queries,); 0 where the measure is undefined."""
    up, down = (np.nan_to_num(metric.per_query(s, q)) for s in (scores + moved, scores - moved))
    return np.asarray((up - down) / (2 * step))
