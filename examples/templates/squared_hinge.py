"""A template of an objective: copy it to lambdaboost/objectives/, rename it, and change one line, the force of a pair.

The example is the squared hinge of pairs, λ = max(0, 1 − o) and μ = 1 where that is above 0, with o = s_i − s_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.objective import Floats, Objective
from lambdaboost.objectives.base.registry import OBJECTIVES


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class SquaredHinge(Objective):
    r"""Squared hinge of each pair: the cost :math:`\frac{1}{2} \max(0, m - (s_i - s_j))^2` where :math:`l_i > l_j`.

    Its slope gives :math:`\lambda = \max(0, m - (s_i - s_j))`, its curvature :math:`\mu = 1` where λ is not 0. Name the
    paper and the number of the equation here.

    Parameters
    ----------
    margin : float, default 1.0
        The distance m that i should be above j.

    Examples
    --------
    >>> grad, hess = SquaredHinge().gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad, hess
    (array([ 1., -1.], dtype=float32), array([1., 1.], dtype=float32))

    """

    margin: float = 1.0

    def __post_init__(self) -> None:
        check_number("margin", self.margin, 0)

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return ("relevance",)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ and μ of every document."""
        lam, mu = np.zeros(q.n_documents), np.zeros(q.n_documents)
        over_queries(_queries, q.offsets, scores, q.relevance, float(self.margin), lam, mu)
        return lam, mu


@inlined
def _one_pair(o, margin):
    """λ and μ of two documents whose scores are o apart: the line to change."""
    return max(0.0, margin - o), 1.0 if o < margin else 0.0


@inlined
def _one_query(s, grades, margin, lam, mu):
    for i in range(s.size):
        for j in range(s.size):
            if grades[i] > grades[j]:  # False where a grade is missing (NaN)
                force, curvature = _one_pair(s[i] - s[j], margin)
                lam[i] += force
                lam[j] -= force
                mu[i] += curvature
                mu[j] += curvature


@kernel
def _queries(first, last, offsets, scores, grades, margin, lam, mu):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        _one_query(scores[a:b], grades[a:b], margin, lam[a:b], mu[a:b])
