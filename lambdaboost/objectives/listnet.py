"""ListNet: the cross-entropy of two softmaxes."""

from __future__ import annotations

import math

import numpy as np

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.objectives.kernels.prepared import Round
from lambdaboost.objectives.objective import LambdaFunction, LambdaMu, Needs, Objective


class ListNet(Objective):
    r"""ListNet's top-one cross-entropy (Cao et al. 2007).

    With :math:`P_i = e^{s_i} / \sum_j e^{s_j}` the probability that document i comes first by the scores and
    :math:`Y_i = e^{l_i} / \sum_j e^{l_j}` by the grades, the cost :math:`-\sum_i Y_i \log P_i` has
    :math:`\lambda_i = Y_i - P_i` and :math:`\mu_i = P_i (1 - P_i)`, the diagonal of its convex Hessian.

    Only differences of grades count, so they may be below 0; NDCG and the engines' own ranking metrics refuse such
    grades, so watch the training by a measure of their order, such as `Spearman`, or by none. Documents without a grade
    (NaN) are left out. A list of equal grades contributes nothing.

    Parameters
    ----------
    source : str
        The label source of the grades.

    Examples
    --------
    >>> from lambdaboost import ListNet, Queries
    >>> grad, hess = ListNet().gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4), hess  # 1/2 − 1/(1 + e)
    (array([ 0.2311, -0.2311], dtype=float32), array([0.25, 0.25], dtype=float32))

    """

    source: str = RELEVANCE

    @property
    def needs(self) -> Needs:
        """Grades of any sign, of which only the differences count; ties count alike."""
        return Needs((self.source,), ties_by_row=False, allows_negative=True)

    def prepare(self, q: Queries) -> LambdaFunction:
        """The share of each grade less that of its score."""
        offsets, grades = q.offsets, q.labels[self.source]

        def lambda_mu(now: Round) -> LambdaMu:
            lam, mu = np.zeros((2, now.scores.size))
            over_queries(_listnet_kernel, offsets, now.scores, grades, lam, mu)
            return lam, mu

        return lambda_mu


@kernel
def _listnet_kernel(first, last, offsets, scores, grades_of, lam_of, mu_of):
    """λ and μ of queries first:last, which stay 0 where all grades are equal. NaN, unequal to itself, is no grade."""
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        s, grades, lam, mu = scores[a:b], grades_of[a:b], lam_of[a:b], mu_of[a:b]
        # The best grade, and the highest scored document with a grade; -1 where none has one.
        best, top = -np.inf, -1
        for i in range(s.size):
            if grades[i] == grades[i]:
                best = max(best, np.float64(grades[i]))
                if top < 0 or s[i] > s[top]:
                    top = i

        # `others` is Σ e^{s_j − s_top} without the top itself, from which its 1 − P follows without cancellation.
        grades_differ, total, others = False, 0.0, 0.0
        for i in range(s.size):
            if grades[i] == grades[i]:
                grades_differ = grades_differ or grades[i] < best
                total += math.exp(np.float64(grades[i]) - best)
                others += math.exp(s[i] - s[top]) if i != top else 0.0
        if not grades_differ:
            continue
        # The share of each grade less that of its score.
        for i in range(s.size):
            if grades[i] == grades[i]:
                e = math.exp(s[i] - s[top])
                p = e / (1 + others)
                rest = (others if i == top else 1 + (others - e)) / (1 + others)
                lam[i] = math.exp(np.float64(grades[i]) - best) / total - p
                mu[i] = p * rest
