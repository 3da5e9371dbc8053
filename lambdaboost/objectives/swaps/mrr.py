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
from lambdaboost.objectives.swaps.swap import Swap


# `relevant` is 1 or 0, (n_documents,).
class ReciprocalRank(
    Swap, NamedTuple("ReciprocalRank", [("relevant", NDArray[np.float32]), ("cutoff", int)])
):
    """MRR; a relevant document's gain is 1."""

    is_sum = False

    @classmethod
    def of(cls, metric: MRR, q: Queries) -> ReciprocalRank:
        """The swap of MRR."""
        return cls(relevant(metric, q), metric.k or q.n_documents)

    def rank_terms(self, first, by_rank, discount, second):
        """What x − Z or v − Z is of each rank's document."""
        n = by_rank.size
        # The ranks of the first two relevant documents, n where there is none.
        highest = next_highest = n
        for r in range(n):
            if self.relevant[first + by_rank[r]] > 0:
                if highest < n:
                    next_highest = r
                    break
                highest = r
        depth = min(self.cutoff, n)
        now = 1 / (highest + 1) if highest < depth else 0.0
        for r in range(n):
            if r == highest:
                discount[r] = (1 / (next_highest + 1) if next_highest < depth else 0.0) - now
            elif self.relevant[first + by_rank[r]] > 0:
                discount[r] = 0
            else:
                discount[r] = (1 / (r + 1) if r < depth else 0.0) - now
        return min(depth, highest + 1)

    def rank_delta(self, i, j):
        """What the swap of a relevant document and another is worth, whichever of them is i."""
        return abs(max(i.discount, j.discount))
