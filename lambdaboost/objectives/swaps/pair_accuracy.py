r"""The swap of the share of pairs in the right order.

Swapping a document i of level a and one j of a worse level b turns their own pair and those of each with the documents
between them: a level that is a or b turns one, a level between the two turns two. So

    N w = |K(r_i) − K(r_j)|,    K(r) = A(r) + B(r) + 2 Σ_{levels c between} C(r),

the documents of levels a, b and c up to rank r, N all pairs. With V_x(r) the documents worse than level x up to rank r
plus those no better, K = V_a − V_b: a swap by discounts, each two levels with their own. V_x are the terms of level x,
of which `two_by_two` and the tree make d.
"""

from __future__ import annotations

from typing import NamedTuple

from lambdaboost._jit import inlined
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import PairAccuracy
from lambdaboost.objectives.kernels.pair_weight import PairWeights, d_step, traits
from lambdaboost.objectives.swaps.registry import by_ranking, swap_of


@inlined
def _ranks(d):
    for r in range(d.size):
        d[r] = r


@traits(has_h=True, by_levels=True, step=d_step)
class RightPairs(NamedTuple):
    """PairAccuracy; every document's gain is 1/N."""

    @staticmethod
    def gap(swap, gain_i, rest_i, gain_j, rest_j):
        """One over the pairs of the query."""
        return gain_i

    @staticmethod
    def rank_terms(swap, first, gains, by_rank, discounts, cutoff, d_memory, h_memory):
        """The rank."""
        _ranks(h_memory)
        return h_memory, h_memory, cutoff

    @staticmethod
    def terms_of_level(swap, a, by_rank, level, now):
        """V_a at the rank of every slot."""
        v = 0
        for slot in by_rank:
            v += int(level[slot] > a) + int(level[slot] >= a)
            now[slot] = v

    @staticmethod
    def terms_of_rows(swap, first, last, a, passed, terms):
        """V_b at the rank of each of the rows first:last of level a, for all worse levels b."""
        by_rank, level, at, count = passed
        for i in range(first, last):
            slot = -1
            while slot != i:
                slot = by_rank[at]
                count[level[slot]] += 1
                at += 1
            worse = 0
            for b in range(count.size - 1, a, -1):
                terms[b, i - first] = 2 * worse + count[b]
                worse += count[b]
        return at


@swap_of(PairAccuracy)
def _weights(metric: PairAccuracy, q: Queries) -> PairWeights:
    return by_ranking(RightPairs(), metric, q)
