"""λ and μ over all pairs of a list in float64, by the plain double loop that all other kernels equal, up to rounding.

It serves where scores lie too far apart for one float32 a document (`prepared`). To understand the kernels read it
first.
"""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import kernel
from lambdaboost.evaluation.rankings import longest
from lambdaboost.objectives.kernels.sigmoid import curvature, logistic, pair_lambdas
from lambdaboost.objectives.swaps.swap import Document, gain_delta, rank_delta, rank_terms


@kernel
def sum_in_float64(first, last, offsets, selected, order, scores, levels, gain, factor, swap, force, out):
    """Write λ and μ of queries first:last that are selected. Shapes as of `tiles.sum_by_tiles`."""
    # By rank: discount and second term, λ and μ.
    discount, second, lam, mu = np.empty((4, longest(first, last, offsets)))
    for q in range(first, last):
        if not selected[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        n, by_rank, level_of, s = b - a, order[a:b], levels.of_document[a:b], scores[a:b]
        reach, gain_of_level = (
            levels.reach[levels.first[q] : levels.first[q + 1]],
            gain[levels.first[q] : levels.first[q + 1]],
        )
        cutoff = min(rank_terms(swap, a, by_rank, discount[:n], second[:n]), n)
        for r in range(n):
            lam[r] = mu[r] = 0

        # Every document as the better one, with all that are worse; two past the cutoff gain nothing by a swap.
        for r in range(n):
            better, level = by_rank[r], level_of[by_rank[r]]
            if level < 0 or level + 1 == reach[level]:
                continue
            i = Document(0.0, gain_of_level[level], 0.0, discount[r], second[r], 1.0)
            own_factor = factor[a + better] if factor.size else 1.0
            for p in range(n if r < cutoff else cutoff):
                worse, other = by_rank[p], level_of[by_rank[p]]
                if level < other < reach[level]:
                    j = Document(0.0, gain_of_level[other], 0.0, discount[p], second[p], 1.0)
                    rho, rest = logistic(force.sigma * (s[better] - s[worse]) + force.center)
                    w = own_factor * gain_delta(swap, i, j) * rank_delta(swap, i, j)
                    f, c = pair_lambdas(force, w * rho, rho, rest)
                    lam[r] += f
                    lam[p] -= f
                    mu[r] += c
                    mu[p] += c

        # From ranks back to documents.
        for r in range(n):
            out[0, a + by_rank[r]], out[1, a + by_rank[r]] = lam[r], curvature(force, mu[r])
