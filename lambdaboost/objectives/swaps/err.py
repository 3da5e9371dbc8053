r"""The swap of the expected reciprocal rank.

With R the satisfaction at a rank, P(r) the product of 1 − R above it, and D(r) = 1/r, 0 past the cutoff,
ERR = Σ R(r) P(r) D(r). Let a stand at rank p, b below it at r. Swapping them changes the first term, divides those
between by 1 − R_a and multiplies them by 1 − R_b, and changes the last; what is below r stays. All that comes to

    w = |R_a − R_b| (V(p) − V(r)) / (1 − R_a),    V(r) = Σ_{t<r} R(t) P(t) D(t) + P(r) D(r).

V falls, by P(r + 1) (D(r) − D(r + 1)) from rank to rank; summed from below it loses no digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import ERR
from lambdaboost.objectives.swaps.swap import Swap

# 1 − R at least, so that what follows a document that surely satisfies can still be swapped with it: V has the same
# factor, which cancels. A smaller number would leave the sums of the sweep no digits.
SURE = 0.9e-9  # less than 2⁻³⁰, 1 − R of the highest of 30 grades
SMALL = 1e-25  # a smaller V is 0: numbers below float32's normal ones are slow


# `satisfaction` is (n_documents,).
class ExpectedReciprocalRank(
    Swap, NamedTuple("ExpectedReciprocalRank", [("satisfaction", NDArray[np.float64]), ("cutoff", int)])
):
    """ERR; a document's gain is its satisfaction."""

    @classmethod
    def of(cls, metric: ERR, q: Queries) -> ExpectedReciprocalRank:
        """The swap of ERR."""
        return cls(metric.satisfaction(q), metric.k or q.n_documents)

    def rank_terms(self, first, by_rank, discount, second):
        """V and 1/(1 − R) of each rank."""
        n = by_rank.size
        depth = min(self.cutoff, n)
        # `discount` holds the chance that the user still reads below each rank, before it holds V.
        p = 1.0
        for r in range(n):
            miss = max(1 - self.satisfaction[first + by_rank[r]], SURE)
            p *= miss
            discount[r] = p
            second[r] = 1 / miss
        v = 0.0
        discount[depth:n] = 0
        for r in range(depth - 1, -1, -1):
            v += discount[r] * (1 / (r + 1) - (1 / (r + 2) if r + 1 < depth else 0.0))
            discount[r] = v if v > SMALL else 0.0
        return depth

    def rank_delta(self, i, j):
        """The difference of V over 1 − R of the upper document, whose V is the higher: the larger of both signs."""
        return max((i.discount - j.discount) * i.second, (j.discount - i.discount) * j.second)

    def sweep_terms(self, upper, lower, second):
        """V, times 1/(1 − R) of the upper document's level."""
        return 0.0, second[upper]
