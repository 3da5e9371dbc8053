"""`loop_work`: whether λ are the slope of one cost across all orders of the documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.diagnostics._watched import watched
from lambdaboost.diagnostics.lambda_jacobian import one_query
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.checks import check_number

POINTS = 64  # of each side


def loop_work(
    objective: Objective, scores: ArrayLike, q: Queries, side: float = 1.0, iteration: int = 0
) -> NDArray[np.float64]:
    r"""What the forces λ do on documents that go once around a square and end where they were (2006 paper, §4).

    For each two documents i and j: the score of i grows by `side`, then that of j, then i goes back, then j. Forces of
    a potential energy, which is a cost, do no work on the way:

    .. math:: \oint \lambda \cdot ds = \iint \frac{\partial\lambda_j}{\partial s_i}
        - \frac{\partial\lambda_i}{\partial s_j} = 0.

    Unlike `lambda_jacobian` this sees what λ do where documents change places. Work that is not zero shows that no cost
    has these λ.

    Parameters
    ----------
    objective, scores, q, iteration
        As in `lambda_jacobian`, but scores may tie.
    side : float
        Of the squares, in units of the scores, > 0; only where a side passes another document does the order change.

    Returns
    -------
    float64 (n_documents, n_documents)
        Antisymmetric. Sums over 64 points a side: without jumps right to about 1e-5 of ``side · |λ|``, where λ jump
        to a hundredth.

    Raises
    ------
    TypeError, ValueError
        As in `lambda_jacobian`, and where `side` is not above 0.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, Queries, RankNet
    >>> q, s = Queries([0, 2, 1], sizes=[3]), [0.5, 0.0, -0.5]
    >>> bool(abs(loop_work(RankNet(), s, q)).max() < 1e-5)
    True
    >>> round(float(abs(loop_work(LambdaRank(), s, q)).max()), 2)
    0.16

    """
    check_number("side", side, 0, open_low=True)
    s = one_query(objective, scores, q, iteration)
    n = s.size
    along = (np.arange(POINTS) + 0.5) / POINTS * side

    def work_of(j: int, start: NDArray[np.float64]) -> float:
        """The work on j as it goes up by `side`, the others staying at `start`."""
        there = np.repeat(start[None], POINTS, axis=0)
        there[:, j] += along
        return side * float(np.mean([objective.lambdas(at, q, iteration)[0][j] for at in there]))

    alone = np.array([work_of(j, s) for j in range(n)])
    # What having moved i first makes of the work on j.
    gain = np.zeros((n, n))
    for i in watched(range(n), n, f"Work of {objective!r}"):
        moved = s.copy()
        moved[i] += side
        gain[i] = [work_of(j, moved) - alone[j] if j != i else 0.0 for j in range(n)]
    return gain - gain.T
