"""λ and μ over all pairs of a list in float64, by the plain double loop that all other kernels equal, up to rounding.

It serves where scores lie too far apart for one float32 a document, and `PairAccuracy` (`prepared`). To understand the
kernels read it first.
"""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import kernel
from lambdaboost.evaluation.rankings import longest
from lambdaboost.objectives.kernels.sigmoid import curvature, logistic, pair_lambdas
from lambdaboost.objectives.swaps.swap import Document, gain_delta, pair_terms, rank_delta, rank_terms


@kernel
def sum_in_float64(first, last, offsets, selected, order, scores, levels, gain, factor, swap, force, out):
    """Write λ and μ of queries first:last that are selected. Shapes as of `tiles.sum_by_tiles`."""
    # By rank: score, discount and second term, λ and μ, level; by level: memory.
    most = longest(first, last, offsets)
    s, discount, second, lam, mu = np.empty((5, most))
    level, memory = np.empty(most, np.int64), np.empty(longest(first, last, levels.first))
    for q in range(first, last):
        if not selected[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        n, by_rank, base, end = b - a, order[a:b], levels.first[q], levels.first[q + 1]
        reach, of_level = levels.reach[base:end], gain[base:end]
        cutoff = min(rank_terms(swap, a, by_rank, discount[:n], second[:n]), n)
        for r in range(n):
            s[r], level[r] = scores[a + by_rank[r]], levels.of_document[a + by_rank[r]]
            lam[r] = mu[r] = 0

        # Every document as the better one, with all that are worse; two past the cutoff gain nothing by a swap.
        for r in range(n):
            own = level[r]
            if own < 0 or own + 1 == reach[own]:
                continue
            pair_terms(swap, a, r, level[:n], memory[: reach.size], discount[:n], second[:n])
            i = Document(0.0, of_level[own], 0.0, discount[r], second[r], 1.0)
            own_factor = factor[a + by_rank[r]] if factor.size else 1.0
            for p in range(n if r < cutoff else cutoff):
                if own < level[p] < reach[own]:
                    j = Document(0.0, of_level[level[p]], 0.0, discount[p], second[p], 1.0)
                    # λ is |ΔZ| ρ, which for NDCG is |G_i − G_j| |D_i − D_j| / (1 + e^{σ(s_i − s_j)}).
                    delta_z = gain_delta(swap, i, j) * rank_delta(swap, i, j)
                    rho, rest = logistic(force.sigma * (s[r] - s[p]) + force.center)
                    f, c = pair_lambdas(force, own_factor * delta_z * rho, rho, rest)
                    lam[r] += f
                    lam[p] -= f
                    mu[r] += c
                    mu[p] += c

        # From ranks back to documents.
        for r in range(n):
            out[0, a + by_rank[r]], out[1, a + by_rank[r]] = lam[r], curvature(force, mu[r])
