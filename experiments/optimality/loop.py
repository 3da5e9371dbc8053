"""`loop_work`: whether λ are the gradient of one cost across all orders of the documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.optimality.jacobian import one_query
from lambdaboost import Queries
from lambdaboost.objectives import Objective

POINTS = 64  # per side


def loop_work(
    objective: Objective, scores: ArrayLike, q: Queries, side: float = 1.0, iteration: int = 0
) -> NDArray[np.float64]:
    r"""The work of λ along a closed square path in the scores of two documents (2006 paper, §4).

    For each pair of documents i and j the score of i rises by `side`, then that of j; then i falls back, then j. If λ
    are the gradient of a cost, the work is zero:

    .. math:: \oint \lambda \cdot ds = \iint \frac{\partial\lambda_j}{\partial s_i}
        - \frac{\partial\lambda_i}{\partial s_j} = 0.

    Unlike `lambda_jacobian` this includes the jumps of λ where documents swap. Non-zero work shows that no cost has
    these λ.

    Parameters
    ----------
    objective, scores, q, iteration
        As in `lambda_jacobian`, but scores may tie.
    side : float
        The side of the squares, in units of the scores, > 0; it must pass other documents to change the order.

    Returns
    -------
    float64 (n_documents, n_documents)
        Antisymmetric. Integrated with 64 points per side: accurate to about 1e-5 of ``side · |λ|`` without jumps, and
        to 1e-2 with jumps.

    Raises
    ------
    TypeError, ValueError
        As in `lambda_jacobian`, and if `side` is not > 0.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, Queries, RankNet
    >>> q, s = Queries([0, 2, 1], sizes=[3]), [0.5, 0.0, -0.5]
    >>> bool(abs(loop_work(RankNet(), s, q)).max() < 1e-5)
    True
    >>> round(float(abs(loop_work(LambdaRank(), s, q)).max()), 2)
    0.16

    """
    if not side > 0:
        raise ValueError(f"side is {side}: give the side of the squares, > 0")
    s = one_query(objective, scores, q, iteration)
    n = s.size
    along = (np.arange(POINTS) + 0.5) / POINTS * side

    def work_of(j: int, start: NDArray[np.float64]) -> float:
        """The work on j as its score rises by `side`, the others at `start`."""
        there = np.repeat(start[None], POINTS, axis=0)
        there[:, j] += along
        return side * float(np.mean([objective.lambdas(at, q, iteration)[0][j] for at in there]))

    alone = np.array([work_of(j, s) for j in range(n)])
    # The change of the work on j after i has moved.
    gain = np.zeros((n, n))
    for i in range(n):
        moved = s.copy()
        moved[i] += side
        gain[i] = [work_of(j, moved) - alone[j] if j != i else 0.0 for j in range(n)]
    return gain - gain.T
