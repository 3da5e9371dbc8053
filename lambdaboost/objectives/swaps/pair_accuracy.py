r"""The swap of the share of pairs in the right order.

Swapping a document i of level a and one j of a worse level b turns their own pair and those of each with the documents
between them: a level that is a or b turns one, a level between the two turns two. So

    N w = |K(r_i) − K(r_j)|,    K(r) = A(r) + B(r) + 2 Σ_{levels c between} C(r),

the documents of levels a, b and c up to rank r, N all pairs. With V_x(r) the documents worse than level x up to rank r
plus those no better, K = V_a − V_b.

So the discount of a rank depends on both levels of a pair. In the pairs of one document, of level x at rank r, one of
level y at rank p has the discount D_p = (V_x(p) − V_y(p) + V_y(r)) / N, and so D_r = V_x(r) / N: then w = |D_r − D_p|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import PairAccuracy
from lambdaboost.evaluation.levels import levels_of
from lambdaboost.objectives.swaps.swap import PAIRS, Swap


class TurnedPairs(
    Swap,
    NamedTuple(
        "TurnedPairs",
        [
            ("level", NDArray[np.int32]),  # (n_documents,) -1 without a label
            ("share", NDArray[np.float64]),  # (n_documents,) 1/N of the document's query
            ("cutoff", int),
        ],
    ),
):
    """PairAccuracy: a pair weighs the number of pairs that its swap turns, over N."""

    terms_of = PAIRS
    is_sum = False

    @classmethod
    def of(cls, metric: PairAccuracy, q: Queries) -> TurnedPairs:
        """The swap of PairAccuracy; 1/N is 0 where there is no pair."""
        levels = levels_of(q, metric.source).as_int32()
        pairs = levels.count_pairs()
        share = np.divide(1.0, pairs, where=pairs > 0, out=np.zeros(q.n_queries))
        return cls(levels.of_document, np.repeat(share, q.sizes), q.n_documents)

    def rank_terms(self, first, by_rank, discount, second):
        """V of each document's own level at its rank over N, as the second term."""
        # The documents of each level so far, in the place of the discounts.
        n_levels = 0
        for r in range(by_rank.size):
            n_levels = max(n_levels, self.level[first + by_rank[r]] + 1)
        passed = discount[:n_levels]
        passed[:] = 0
        for r in range(by_rank.size):
            level = self.level[first + by_rank[r]]
            if level >= 0:
                passed[level] += 1
                v = passed[level]
                for worse in range(level + 1, passed.size):
                    v += 2 * passed[worse]
                second[r] = v * self.share[first]
        return self.cutoff

    def pair_terms(self, first, rank, level, memory, discount, second):
        """Discounts in the pairs of the document at a rank, each over N."""
        # V of every level at that rank, in the place of the documents of each level down to there.
        v = memory
        v[:] = 0
        for r in range(rank + 1):
            if level[r] >= 0:
                v[level[r]] += 1
        worse_passed = 0.0
        for x in range(v.size - 1, -1, -1):
            passed = v[x]
            v[x] = 2 * worse_passed + passed
            worse_passed += passed

        # V of the document's own level at each rank.
        own = 0.0
        for p in range(level.size):
            if level[p] >= 0:
                own += np.float64(level[p] > level[rank]) + np.float64(level[p] >= level[rank])
                discount[p] = (own + v[level[p]]) * self.share[first] - second[p]

    def gain_delta(self, i, j):
        """One, whatever the gains."""
        return 1.0
