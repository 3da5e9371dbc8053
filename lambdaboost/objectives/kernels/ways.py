"""Which of four loops sums the pairs of each query, decided before any of them runs.

way     queries                                                    loop
lanes   up to 40 documents                                         64 lists side by side (`lanes`)
tree    many pairs, few levels, a swap that is a sum of terms      runs of documents meet (`tree`)
tiles   all others                                                 one list after the other (`query`)
plain   scores too far apart for one float32, even when a lone     the same in float64, with an exponential a pair
        highest or lowest one is brought near the others
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.lanes import LONGEST_IN_LANES
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import RANGE, Loss
from lambdaboost.objectives.kernels.pair_weight import PairWeights
from lambdaboost.objectives.kernels.tree import worth_a_tree

BY_LANES, BY_TILES, BY_TREE, BY_PLAIN_LOOP = range(4)
Ways = NDArray[np.int8]
Floats = NDArray[np.float64]
NEAR = 84.0  # in the pairs of documents that lie σ-apart by this, ρ or 1 − ρ is below 1e-36, nothing beside others


def choose_kernel(q: Queries, levels: Levels, weights: PairWeights) -> Ways:
    """The way of each query whose scores are near each other, (n_queries,)."""

    def build() -> tuple[Ways, Levels]:
        ways = np.full(q.n_queries, BY_TILES, dtype=np.int8)
        if not weights.swap.traits.by_levels:
            ways[q.sizes <= LONGEST_IN_LANES] = BY_LANES
        ways[worth_a_tree(q, levels, weights)] = BY_TREE
        return ways, levels

    key = ("ways", id(levels.of_document), type(weights.swap), weights.cutoff, type(weights.factors))
    ways: Ways = q.memo(key, build)[0]
    return ways


def clip_outliers(scores: Floats, q: Queries, ways: Ways, loss: Loss) -> tuple[Floats, Ways]:
    """The scores, a lone outlier nearer to the others, and the ways, BY_PLAIN_LOOP where that is not enough."""
    sigma, center, _ = loss.sigmoid
    if sigma * (float(scores.max()) - float(scores.min())) + abs(center) <= RANGE:
        return scores, ways
    near, ways = scores.copy(), ways.copy()
    over_queries(_clip_outliers, q.offsets, (sigma, RANGE - abs(center)), near, ways)
    return near, ways


@kernel
def _clip_outliers(first, last, offsets, limits, scores, ways):
    """Move the highest or the lowest score of a list of too wide a range, or go BY_PLAIN_LOOP where neither helps."""
    sigma, most = limits
    for q in range(first, last):
        s = scores[offsets[q] : offsets[q + 1]]
        best = worst = s[0]
        for x in s:
            best, worst = max(best, x), min(worst, x)
        if sigma * (best - worst) <= most or ways[q] == BY_TREE:
            continue
        second, last_but_one = worst, best
        for x in s:
            second = x if second < x < best else second
            last_but_one = x if last_but_one > x > worst else last_but_one
        high, low = best, worst
        if sigma * (second - worst) <= most - NEAR:
            high = worst + most / sigma
        elif sigma * (best - last_but_one) <= most - NEAR:
            low = best - most / sigma
        # Scores of 1e17 do not change by as little.
        if sigma * (high - low) > most + 1 or not (high > second and low < last_but_one):
            ways[q] = BY_PLAIN_LOOP
            continue
        for i in range(s.size):
            s[i] = min(max(s[i], low), high)
