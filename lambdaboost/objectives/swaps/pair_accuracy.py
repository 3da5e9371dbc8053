r"""The swap of the share of pairs in the right order.

Swapping a document i of level a and one j of a worse level b turns their own pair and those of each with the documents
between them: a level that is a or b turns one, a level between the two turns two. So

    N w = |K(r_i) − K(r_j)|,    K(r) = A(r) + B(r) + 2 Σ_{levels c between} C(r),

the documents of levels a, b and c up to rank r, N all pairs. With V_x(r) the documents worse than level x up to rank r
plus those no better, K = V_a − V_b: a swap by discounts, of which each pair of levels has its own. Tiles and the tree
make them of V.
"""

from __future__ import annotations

from typing import NamedTuple

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import PairAccuracy
from lambdaboost.objectives.kernels.pair_weight import PairWeights, traits
from lambdaboost.objectives.swaps.registry import by_ranking, swap_of


@traits(by_gain=False, has_h=True, by_levels=True, n_terms=-1)
class RightPairs(NamedTuple):
    """PairAccuracy; every document's gain is 1/N."""

    @staticmethod
    def rank_terms(swap, query, d, h):
        """1/N at every rank, by which counts of documents are divided; d depends on the pair of levels."""
        for r in range(h.size):
            d[r], h[r] = 0, query.gains[0]
        return query.cutoff

    @staticmethod
    def rank_delta(swap, i, j):
        """|K(r_i) − K(r_j)|/N."""
        return abs(i.d - j.d) * i.h

    @staticmethod
    def tree_terms(swap, upper, lower, h, w):
        """V of the worse level less that of the better, which falls from rank to rank; over N."""
        w[1 + max(upper, lower)] = h[upper]
        w[1 + min(upper, lower)] = -h[upper]


@swap_of(PairAccuracy)
def _weights(metric: PairAccuracy, q: Queries) -> PairWeights:
    return by_ranking(RightPairs(), metric, q)
