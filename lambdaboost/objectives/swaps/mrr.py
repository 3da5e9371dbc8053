"""The swap of the reciprocal rank.

Let v(r) = 1/r, 0 past the cutoff, and Z = v of the first relevant rank. Without document i, the other relevant
documents give x_i: v of the second relevant rank if i is the first, Z if it is not; put at the rank of j it gives
max(x_i, v(r_j)). So w = |max(x_i − Z, v(r_j) − Z)|: one number a document, x − Z if it is relevant, v − Z if not.
It is 0 where neither stands as high as the first relevant document, which is therefore this query's cutoff: in one
long list the pairs above it are few unless relevant documents are rare and come late.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import MRR
from lambdaboost.evaluation.binary import relevant


class ReciprocalRank(NamedTuple):
    """MRR; a relevant document's gain is 1."""

    relevant: NDArray[np.float32]  # (n_documents,) 1 or 0
    cutoff: int

    @staticmethod
    def terms_of_query(swap, first, by_rank, discount, second):
        """What x − Z or v − Z is of each rank's document."""
        n = by_rank.size
        # The ranks of the first two relevant documents, n where there is none.
        highest = next_highest = n
        for r in range(n):
            if swap.relevant[first + by_rank[r]] > 0:
                if highest < n:
                    next_highest = r
                    break
                highest = r
        depth = min(swap.cutoff, n)
        now = 1 / (highest + 1) if highest < depth else 0.0
        for r in range(n):
            if r == highest:
                discount[r] = (1 / (next_highest + 1) if next_highest < depth else 0.0) - now
            elif swap.relevant[first + by_rank[r]] > 0:
                discount[r] = 0
            else:
                discount[r] = (1 / (r + 1) if r < depth else 0.0) - now
        return min(depth, highest + 1)

    @staticmethod
    def rank_delta(swap, i, j):
        """What the swap of a relevant document and another is worth, whichever of them is i."""
        return abs(max(i.discount, j.discount))


def gain_of_mrr(metric: MRR, q: Queries) -> NDArray[np.float32]:
    """1 for each relevant document, else 0; (n_documents,)."""
    return relevant(metric, q)


def swap_of_mrr(metric: MRR, q: Queries) -> ReciprocalRank:
    """The swap of MRR."""
    return ReciprocalRank(relevant(metric, q), metric.k or q.n_documents)
