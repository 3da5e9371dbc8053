"""PositionGAM: an objective at scores to which the bias of each position is added."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from experiments.clicks.sampled_queries import sampled_queries
from lambdaboost import Queries
from lambdaboost.objectives.composite import Wrapper
from lambdaboost.objectives.objective import Floats, LambdaMu

SAMPLED_DOCUMENTS = 20_000  # about as many are sampled to estimate the bias
NEWTON_STEPS = 12  # at most
SHORTEST_STEP = 1e-3  # the last step is shorter


class PositionGAM(Wrapper, registered=False):
    r"""An objective at corrected scores :math:`s_i + b_{k(i)}`, an additive bias for each position k.

    The bias minimises the cost of the objective at the scores of the round: :math:`\sum_{k(i)=k} \lambda_i =
    r\,n_k b_k` for each position, with r the regularization and :math:`n_k` the number of documents shown there. Half
    Newton steps of all positions at once solve these equations in every round, so the objective has no state.
    LightGBM's ``position`` takes one Newton step a round, times the learning rate.

    The model learns what the bias does not explain, and predicts without it. This separates the effect of a position on
    clicks from that of the documents shown there, if documents were shown at several positions. With more than 20,000
    documents the bias is estimated from a fixed sample of queries. Documents without a position have no bias.

    Parameters
    ----------
    objective : Objective
        Any that does not read positions itself, except `Constrained`.
    regularization : float
        r, ≥ 0, LightGBM's ``lambdarank_position_bias_regularization``.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, Queries
    >>> q = Queries([1, 0, 1, 0, 0, 1], sizes=[2, 2, 2], position=[1, 2, 1, 2, 1, 2])
    >>> objective = PositionGAM(LambdaRank())
    >>> objective.bias([0.0] * 6, q).round(2)  # the first is clicked twice as often: log 2 apart
    array([ 0.  , -0.69])

    """

    regularization: float = 0.0

    reads_positions = True
    ranks_ties_by_row = False  # equal scores differ by the bias of their positions

    def bias(self, scores: ArrayLike, q: Queries, iteration: int = 0) -> Floats:
        """The bias b of each position at these scores, relative to that of the first; float64 (n_positions,)."""
        b = self._bias(q.scores(scores), q, iteration)[1:]
        return b - b[:1]  # empty if no row was shown

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document at the corrected scores."""
        b = self._bias(scores, q, iteration)
        return self.objective.lambdas(scores + b[q.required_position()], q, iteration)

    def _bias(self, scores: Floats, q: Queries, iteration: int) -> Floats:
        """The bias of each position; at index 0 that of rows that were not shown, which is 0."""
        size = int(q.required_position().max()) + 1
        counts = q.sizes * (q.query_weight > 0)
        of, rows = q.memo("sampled documents", lambda: sampled_queries(q, counts, SAMPLED_DOCUMENTS))
        if rows is not None:
            scores = scores[rows]
        position, weights = of.required_position(), of.weight
        count = np.bincount(position, weights, minlength=size)
        b = np.zeros(size)
        for _ in range(NEWTON_STEPS):
            lam, mu = (
                np.bincount(position, part if weights is None else part * weights, size)
                for part in self.objective.lambdas(scores + b[position], of, iteration)
            )
            slope, curvature = lam - self.regularization * count * b, abs(mu) + self.regularization * count
            # Half a step, since both positions of a pair move.
            step = 0.5 * np.divide(slope, curvature, out=np.zeros(size), where=curvature > 0)
            step[0] = 0
            b += np.clip(step, -1, 1)
            if abs(step).max() < SHORTEST_STEP:
                break
        return b
