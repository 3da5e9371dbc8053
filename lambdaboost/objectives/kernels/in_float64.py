"""λ and μ over all pairs of a list in float64, one pair after the other: where tiles and lanes do not serve.

Without `PairAccuracy` this is the plain double loop that all other kernels equal, up to rounding: read it first.

That is where scores lie too far apart for one float32 a document, and for `PairAccuracy`, whose swaps depend on all
documents between the two (`swaps.pair_accuracy`).
"""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import kernel
from lambdaboost.evaluation.rankings import longest
from lambdaboost.objectives.kernels.sigmoid import FLOAT64_NORMAL, curvature, logistic, pair_lambdas
from lambdaboost.objectives.swaps.swap import Document, counts_pairs, gain_delta, rank_delta, rank_terms


@kernel
def sum_in_float64(first, last, offsets, wanted, order, scores, levels, gain, factor, swap, force, out):
    """Write λ and μ of queries first:last that are wanted. Shapes as of `tiles.sum_by_tiles`."""
    most, most_levels = longest(first, last, offsets), longest(first, last, levels.first)
    # By rank: the score, what pairs read of a document, and its sums.
    s, gain_at, discount, second, factor_at, lam, mu = np.empty((7, most))
    level, turned, own = np.empty((3, most), np.int64)
    passed, of_level = np.empty((2, most_levels), np.int64)
    for q in range(first, last):
        if not wanted[q]:
            continue
        a, b, base, end = offsets[q], offsets[q + 1], levels.first[q], levels.first[q + 1]
        n, by_rank, of_document = b - a, order[a:b], levels.of_document[a:b]
        reach, gain_of_level = levels.reach[base:end], gain[base:end]

        # What pairs read of each document, by rank.
        cutoff = rank_terms(swap, a, by_rank, discount[:n], second[:n])
        for r in range(n):
            i = by_rank[r]
            s[r], level[r] = scores[a + i], of_document[i]
            factor_at[r] = factor[a + i] if factor.size else 1.0
            gain_at[r] = gain_of_level[level[r]] if level[r] >= 0 else 0.0
            lam[r] = mu[r] = 0
        if counts_pairs(swap):
            _count_own(level[:n], passed[: reach.size], own)
            passed[:] = 0

        # Every rank above the cutoff with every rank below it.
        for r in range(min(cutoff, n)):  # two documents past the cutoff gain nothing by a swap
            if level[r] < 0:
                continue
            if counts_pairs(swap):
                passed[level[r]] += 1
                _count_turned(r, level[:n], own, passed[: reach.size], of_level, turned)
            for p in range(r + 1, n):
                is_better = level[r] < level[p]
                better, worse = (r, p) if is_better else (p, r)
                if level[better] < 0 or level[better] == level[worse] or level[worse] >= reach[level[better]]:
                    continue
                x = force.sigma * (s[better] - s[worse]) + force.center
                rho, rest = logistic(min(max(x, -FLOAT64_NORMAL), FLOAT64_NORMAL))
                i = Document(0.0, gain_at[better], 0.0, discount[better], second[better], factor_at[better])
                j = Document(0.0, gain_at[worse], 0.0, discount[worse], second[worse], 1.0)
                w = turned[p] * second[r] if counts_pairs(swap) else rank_delta(swap, i, j)
                w *= gain_delta(swap, i, j)
                f, c = pair_lambdas(force, w * i.factor * rho, rho, rest)
                lam[better] += f
                lam[worse] -= f
                mu[better] += c
                mu[worse] += c

        # From ranks back to documents.
        for r in range(n):
            out[0, a + by_rank[r]] = lam[r]
            out[1, a + by_rank[r]] = curvature(force, mu[r])


@kernel
def _count_own(level, passed, own):
    """Write V of each document's own level at its rank (`swaps.pair_accuracy`)."""
    passed[:] = 0
    for r in range(level.size):
        if level[r] >= 0:
            passed[level[r]] += 1
            own[r] = passed[level[r]]
            for worse in range(level[r] + 1, passed.size):
                own[r] += 2 * passed[worse]


@kernel
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
