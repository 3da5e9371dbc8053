r"""The swap of the share of pairs in the right order.

Swapping a document i of level a and one j of a worse level b turns their own pair and those of each with the documents
between them: a level that is a or b turns one, a level between the two turns two. So

    N w = |K(r_i) − K(r_j)|,    K(r) = A(r) + B(r) + 2 Σ_{levels c between} C(r),

the documents of levels a, b and c up to rank r, N all pairs. With V_x(r) the documents worse than level x up to rank r
plus those no better, K = V_a − V_b.

No discount of the two ranks says this, so `PairAccuracy` has a loop over pairs of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import called, kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import PairAccuracy
from lambdaboost.evaluation.levels import levels_of
from lambdaboost.evaluation.rankings import longest
from lambdaboost.objectives.kernels.sigmoid import curvature, logistic, pair_lambdas


class TurnedPairs(NamedTuple):
    """PairAccuracy: a pair weighs the number of pairs that its swap turns, over N."""

    share: NDArray[np.float64]  # (n_documents,) 1/N of the document's query


@kernel
def sum_turned_pairs(first, last, offsets, selected, order, scores, levels, gain, factor, swap, force, out):
    """Write λ and μ of selected queries of first:last. Arguments as of `tiles.sum_by_tiles`; `gain` is not read."""
    most, most_levels = longest(first, last, offsets), longest(first, last, levels.first)
    # By rank: level, V of that level, pairs that a swap with the upper document of a pair turns; λ and μ.
    level, own, turned = np.empty((3, most), np.int64)
    lam, mu = np.empty((2, most))
    # By level: documents up to a rank, V.
    passed, of_level = np.empty((2, most_levels), np.int64)
    for q in range(first, last):
        if not selected[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        n, by_rank, level_of, s = b - a, order[a:b], levels.of_document[a:b], scores[a:b]
        reach = levels.reach[levels.first[q] : levels.first[q + 1]]
        for r in range(n):
            level[r] = level_of[by_rank[r]]
            lam[r] = mu[r] = 0
        _count_own(level[:n], passed[: reach.size], own)

        # Every rank with all below it.
        passed[:] = 0
        for r in range(n):
            if level[r] < 0:
                continue
            passed[level[r]] += 1
            _count_turned(r, level[:n], own, passed[: reach.size], of_level, turned)
            for p in range(r + 1, n):
                better, worse = (r, p) if level[r] < level[p] else (p, r)
                if level[better] < 0 or level[better] == level[worse] or level[worse] >= reach[level[better]]:
                    continue
                i, j = by_rank[better], by_rank[worse]
                rho, rest = logistic(force.sigma * (s[i] - s[j]) + force.center)
                w = turned[p] * swap.share[a] * (factor[a + i] if factor.size else 1.0)
                f, c = pair_lambdas(force, w * rho, rho, rest)
                lam[better] += f
                lam[worse] -= f
                mu[better] += c
                mu[worse] += c

        # From ranks back to documents.
        for r in range(n):
            out[0, a + by_rank[r]], out[1, a + by_rank[r]] = lam[r], curvature(force, mu[r])


@called
def _count_own(level, passed, own):
    """Write V of each document's own level at its rank."""
    passed[:] = 0
    for r in range(level.size):
        if level[r] >= 0:
            passed[level[r]] += 1
            own[r] = passed[level[r]]
            for worse in range(level[r] + 1, passed.size):
                own[r] += 2 * passed[worse]


@called
def _count_turned(r, level, own, passed, of_level, turned):
    """Write how many pairs a swap of ranks r and p turns, for each p below r; `passed` are levels up to rank r."""
    worse_passed = 0
    for x in range(passed.size - 1, -1, -1):
        of_level[x] = 2 * worse_passed + passed[x]  # V of every level at rank r
        worse_passed += passed[x]
    v = 0  # of the level of rank r, counted from there
    for p in range(r + 1, level.size):
        if level[p] >= 0:
            v += np.int64(level[p] > level[r]) + np.int64(level[p] >= level[r])
            turned[p] = abs(v - (own[p] - of_level[level[p]]))


def one_over_n(metric: PairAccuracy, q: Queries) -> NDArray[np.float64]:
    """1/N of the query of each document, 0 where there is no pair; (n_documents,)."""
    pairs = levels_of(q, metric.source).count_pairs()
    return np.repeat(np.divide(1.0, pairs, where=pairs > 0, out=np.zeros(q.n_queries)), q.sizes)


def swap_of_pair_accuracy(metric: PairAccuracy, q: Queries) -> TurnedPairs:
    """The swap of PairAccuracy."""
    return TurnedPairs(one_over_n(metric, q))
