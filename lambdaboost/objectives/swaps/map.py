r"""The swap of average precision.

Let v(r) = 1/r, 0 past the cutoff k; C(r) the number of relevant documents up to rank r, S(r) the sum of v(t) over their
ranks t ≤ r, m all of them and M = min(m, k). Then M AP@k is the sum of C v over the ranks of relevant documents. One
that falls from rank p to r takes C(p) v(p) away, adds C(r) v(r), and costs each relevant document between v(t); one
that rises from r to p the other way around, its own count one higher at p:

    M w = (C(p) v(p) − S(p)) − (C(r) v(r) − S(r))              where the relevant document stands above,
    M w = ((C(p) + 1) v(p) − S(p)) − ((C(r) + 1) v(r) − S(r))  where it stands below.

With the second term h = v/2 and the discount d = C v − S + h both are |d_i − d_j| − (h_i − h_j), i the relevant
document, whichever stands above. d falls from rank to rank. Past the cutoff it is −S(k) at every rank and h is 0, so
two documents there weigh 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import MAP
from lambdaboost.evaluation.binary import count_judged, relevant
from lambdaboost.objectives.swaps.swap import Swap


# `gains` are (n_documents,).
class AveragePrecision(
    Swap, NamedTuple("AveragePrecision", [("gains", NDArray[np.float64]), ("cutoff", int)])
):
    """MAP; a relevant document's gain is 1/M."""

    @classmethod
    def of(cls, metric: MAP, q: Queries) -> AveragePrecision:
        """The swap of MAP."""
        return cls(one_over_m(metric, q), metric.k or q.n_documents)

    def rank_terms(self, first, by_rank, discount, second):
        """C v − S + v/2 and v/2 of each rank."""
        relevant = reciprocals = 0.0
        depth = min(self.cutoff, by_rank.size)
        gains = self.gains[first : first + by_rank.size]
        for r in range(depth):
            # No branch, which the processor could not foresee.
            is_relevant, reciprocal = np.float64(gains[by_rank[r]] > 0), 1 / (r + 1)
            relevant += is_relevant
            reciprocals += is_relevant * reciprocal
            second[r] = 0.5 * reciprocal
            discount[r] = (relevant + 0.5) * reciprocal - reciprocals
        for r in range(depth, by_rank.size):  # assigning a slice would compile longer than all else here
            discount[r], second[r] = -reciprocals, 0
        return depth

    def rank_delta(self, i, j):
        """M w of a relevant document i and another j."""
        return abs(i.discount - j.discount) - (i.second - j.second)

    def sweep_terms(self, upper, lower, second):
        """Discounts, less second terms where the relevant document stands above, plus them where it stands below."""
        return 0.0, 1.0, -1.0 if upper < lower else 1.0


def one_over_m(metric: MAP, q: Queries) -> NDArray[np.float64]:
    """1/M for each relevant document, else 0; (n_documents,)."""
    m = np.clip(count_judged(metric, q)[0], 1, metric.k)
    return relevant(metric, q) / np.repeat(m, q.sizes)
