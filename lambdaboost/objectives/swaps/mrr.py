"""The swap of the reciprocal rank.

Let v(r) = 1/r, 0 past the cutoff, and Z = v of the first relevant rank. Without document i, the other relevant
documents give x_i: v of the second relevant rank if i is the first, Z if it is not; put at the rank of j it gives
max(x_i, v(r_j)). So w = |max(x_i − Z, v(r_j) − Z)|: one figure a document, x − Z if it is relevant, v − Z if not.
It is 0 where neither stands as high as the first relevant document, which is therefore this query's cutoff: in one
long list the pairs above it are few unless relevant documents are rare and come late.
"""

from __future__ import annotations

from typing import NamedTuple

from lambdaboost._jit import inlined
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import MRR
from lambdaboost.objectives.kernels.pair_weight import PairWeights, traits
from lambdaboost.objectives.swaps.registry import by_ranking, swap_of


@inlined
def _reciprocal_rank_terms(gains, by_rank, cutoff, discount):
    n = by_rank.size
    first = second = n
    for r in range(n):
        if gains[by_rank[r]] > 0:
            if first < n:
                second = r
                break
            first = r
    depth = min(cutoff, n)
    now = 1 / (first + 1) if first < depth else 0.0
    for r in range(n):
        if r == first:
            discount[r] = (1 / (second + 1) if second < depth else 0.0) - now
        elif gains[by_rank[r]] > 0:
            discount[r] = 0
        else:
            discount[r] = (1 / (r + 1) if r < depth else 0.0) - now
    return min(depth, first + 1)


@traits(n_terms=None)
class ReciprocalRank(NamedTuple):
    """MRR; a relevant document's gain is 1."""

    @staticmethod
    def rank_terms(swap, query, discount, second):
        """What x − Z or v − Z is of each rank's document."""
        return _reciprocal_rank_terms(query.gains, query.by_rank, query.cutoff, discount)

    @staticmethod
    def rank_delta(swap, i, j):
        """What the swap of a relevant document and another is worth, whichever of them is i."""
        return abs(max(i.discount, j.discount))


@swap_of(MRR)
def _weights(metric: MRR, q: Queries) -> PairWeights:
    return by_ranking(ReciprocalRank(), metric, q)
