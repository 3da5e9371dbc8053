r"""The swap of the share of pairs in the right order.

Swapping a document i of level a and one j of a worse level b turns their own pair and those of each with the documents
between them: a level that is a or b turns one, a level between the two turns two. So

    N w = |K(r_i) − K(r_j)|,    K(r) = A(r) + B(r) + 2 Σ_{levels c between} C(r),

the documents of levels a, b and c up to rank r, N all pairs. With V_x(r) the documents worse than level x up to rank r
plus those no better, K = V_a − V_b, which `kernels.in_float64` counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation import PairAccuracy
from lambdaboost.evaluation.levels import levels_of
from lambdaboost.objectives.swaps.swap import ONE


class RightPairs(NamedTuple):
    """PairAccuracy; every document's gain is 1/N."""

    gains: NDArray[np.float64]  # (n_documents,)
    cutoff: int

    @staticmethod
    def terms_of_query(swap, first, by_rank, discount, second):
        """1/N as the second term, by which the kernel in float64 multiplies the number of pairs that turn."""
        for r in range(second.size):
            discount[r], second[r] = 0, swap.gains[first]
        return swap.cutoff

    @staticmethod
    def counts_pairs(swap):
        """Whether the documents between the two decide."""
        return True

    @staticmethod
    def gain_delta(swap, i, j):
        """One, whatever the gains."""
        return ONE

    @staticmethod
    def rank_delta(swap, i, j):
        """Not used: the documents between the two decide."""
        return i.second


def one_over_n(metric: PairAccuracy, q: Queries) -> NDArray[np.float64]:
    """1/N of the query of each document, 0 where there is no pair; (n_documents,)."""
    pairs = levels_of(q, RELEVANCE).count_pairs()
    return np.repeat(np.divide(1.0, pairs, where=pairs > 0, out=np.zeros(q.n_queries)), q.sizes)


def swap_of_pair_accuracy(metric: PairAccuracy, q: Queries) -> RightPairs:
    """The swap of PairAccuracy."""
    return RightPairs(one_over_n(metric, q), q.n_documents)
