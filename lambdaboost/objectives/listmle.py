"""ListMLE: the likelihood of the right order."""

from __future__ import annotations

import math

import numpy as np

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.evaluation.levels import levels_of
from lambdaboost.evaluation.rankings import longest
from lambdaboost.objectives.kernels.prepared import Round
from lambdaboost.objectives.objective import LambdaFunction, LambdaMu, Needs, Objective


class ListMLE(Objective):
    r"""The likelihood of the graded order in the Plackett-Luce model (ListMLE: Xia et al. 2008).

    .. math:: -\sum_k \log \frac{e^{s_k}}{e^{s_k} + \sum_{l_j < l_k} e^{s_j}}

    Each document is chosen before all worse ones. Without ties this is ListMLE; documents of equal grade do not
    compete, so no order is drawn for them. With :math:`p_{kj}` the share of j in the denominator of k,
    :math:`\lambda_i = (1 - p_{ii}) - \sum_{l_k > l_i} p_{ki}` and :math:`\mu_i = \sum_k p_{ki} (1 - p_{ki})`, the
    diagonal of the convex Hessian. Documents without a grade (NaN) are left out.

    Time for a query is O(documents × distinct grades).

    Parameters
    ----------
    source : str
        The label source of the grades.

    Examples
    --------
    >>> from lambdaboost import ListMLE, Queries
    >>> grad, hess = ListMLE().gradient([0.0, 0.0, 0.0], Queries([0, 1, 2], sizes=[3]))
    >>> grad.round(4)  # 1/3 + 1/2, 1/3 − 1/2, −2/3
    array([ 0.8333, -0.1667, -0.6667], dtype=float32)

    """

    source: str = RELEVANCE

    @property
    def needs(self) -> Needs:
        """Grades of any sign, of which only the order counts; ties count alike."""
        return Needs((self.source,), ties_by_row=False, allows_negative=True)

    def prepare(self, q: Queries) -> LambdaFunction:
        """The forces of each level against all worse ones."""
        offsets, grades = q.offsets, levels_of(q, self.source).as_int32()

        def lambda_mu(now: Round) -> LambdaMu:
            lam, mu = np.zeros((2, now.scores.size))
            over_queries(_listmle_kernel, offsets, now.scores, grades.of_document, grades.first, lam, mu)
            return lam, mu

        return lambda_mu


# A query is read from its worst level to its best. `top` is the highest scored document of the levels read so far, e of
# each of them its e^{s − s_top}, and `others` the sum of e without the top's own 1. No exponent is above 0, so that
# nothing overflows.


@inlined
def _add_forces_of_level(s, level, g, top, others, e, lam, mu):
    """Add the forces of level g, each of whose documents is chosen before all worse ones, which are read already.

    p_kj is the share of document j in the denominator of document k. A p near 1 has its 1 − p from the other terms of
    the denominator, since subtraction would cancel its digits.
    """
    shares, squares, of_top = 0.0, 0.0, 0.0  # over k: the top's p_k, p_k², p_k (1 − p_k)
    for k in range(s.size):
        if level[k] == g:
            # Terms of the denominator over the largest of them: that of k itself, or that of the top.
            if s[k] >= s[top]:
                x = math.exp(s[top] - s[k])
                denominator = 1 + x * (1 + others)
                own, against = 1 / denominator, x * (1 + others) / denominator
                share, rest = x / denominator, (1 + x * others) / denominator
            else:
                x = math.exp(s[k] - s[top])
                denominator = 1 + (x + others)
                own, against = x / denominator, (1 + others) / denominator
                share, rest = 1 / denominator, (x + others) / denominator
            lam[k] += against
            mu[k] += own * against
            shares += share
            squares += share * share
            of_top += share * rest

    # p_kj is e_j times the top's p_k, so that sums over k serve all j.
    for j in range(s.size):
        if level[j] > g:
            lam[j] -= e[j] * shares
            mu[j] += of_top if j == top else e[j] * (shares - e[j] * squares)


@inlined
def _add_level_to_denominator(s, level, g, top, others, e):
    """Level g is read: the top and the others with its documents."""
    before = top
    for k in range(s.size):
        if level[k] == g and (top < 0 or s[k] > s[top]):
            top = k
    if before >= 0 and top != before:  # e of the worse levels, from the new top
        fade = math.exp(s[before] - s[top])
        others = (others + 1) * fade
        for j in range(s.size):
            if level[j] > g:
                e[j] *= fade
    for k in range(s.size):
        if level[k] == g:
            e[k] = math.exp(s[k] - s[top])
            others += e[k] if k != top else 0.0
    return top, others


@kernel
def _listmle_kernel(first, last, offsets, scores, level_of, level_first, lam, mu):
    """λ and μ of queries first:last; levels count from the best, 0, and are -1 without a grade."""
    e = np.empty(longest(first, last, offsets))
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        s, level, e_here = scores[a:b], level_of[a:b], e[: b - a]
        top, others = np.int64(-1), 0.0
        for g in range(level_first[q + 1] - level_first[q] - 1, -1, -1):
            if top >= 0:
                _add_forces_of_level(s, level, g, top, others, e_here, lam[a:b], mu[a:b])
            top, others = _add_level_to_denominator(s, level, g, top, others, e_here)
