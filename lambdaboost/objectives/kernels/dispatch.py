"""Which of five kernels sums the pairs of each query, decided before any of them runs.

kernel  queries                                                    loop
lanes   up to 40 documents                                         64 lists side by side (`lanes`)
tree    many pairs, few levels, a swap that is a sum of terms      runs of documents interact (`tree`)
sweep   the same, of weights by the mean discount of a document   documents by that, at fixed points (`sweep`)
tiles   all others                                                 one list after the other (`query`)
plain   scores too far apart for one float32, even when a lone     the same in float64, one exponential per pair
        highest or lowest one is clipped
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.exp import FLOAT32_ZERO, RATIO_RANGE
from lambdaboost.objectives.kernels.lanes import LONGEST_IN_LANES
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import Loss
from lambdaboost.objectives.kernels.pair_weight import PairWeights, by_document, by_levels
from lambdaboost.objectives.kernels.tree import is_tree_faster

BY_LANES, BY_TILES, BY_TREE, BY_SWEEP, BY_PLAIN_LOOP = range(5)
Kernels = NDArray[np.int8]  # one of these for each query
Floats = NDArray[np.float64]


def choose_kernel(q: Queries, levels: Levels, weights: PairWeights) -> Kernels:
    """The kernel of each query whose scores are near each other, (n_queries,)."""

    def build() -> tuple[Kernels, Levels]:
        kernels = np.full(q.n_queries, BY_TILES, dtype=np.int8)
        if not by_levels(weights.swap):
            kernels[q.sizes <= LONGEST_IN_LANES] = BY_LANES
        kernels[is_tree_faster(q, levels, weights)] = BY_SWEEP if by_document(weights.swap) else BY_TREE
        return kernels, levels

    key = ("kernels", id(levels.of_document), type(weights.swap), weights.cutoff, type(weights.factors))
    kernels: Kernels = q.memo(key, build)[0]
    return kernels


def clip_outliers(
    scores: Floats, offsets: NDArray[np.int64], kernels: Kernels, loss: Loss
) -> tuple[Floats, Kernels]:
    """The scores, a lone outlier nearer to the others, and the kernels, BY_PLAIN_LOOP where that is not enough."""
    sigma, center, _ = loss.sigmoid
    near, kernels = scores.copy(), kernels.copy()
    most = RATIO_RANGE - abs(center)
    over_queries(_clip_outliers, offsets, (sigma, most, most - FLOAT32_ZERO - abs(center)), near, kernels)
    return near, kernels


@kernel
def _clip_outliers(first, last, offsets, limits, scores, kernels):
    """Move the highest or the lowest score of a list of too wide a range, or go BY_PLAIN_LOOP where neither helps.

    `limits` are σ, the widest range, and that of the other scores which leaves the outlier so far from all of them that
    ρ or 1 − ρ is 0 in its pairs, as it was before.
    """
    sigma, most, others = limits
    for q in range(first, last):
        s = scores[offsets[q] : offsets[q + 1]]
        best = worst = s[0]
        for x in s:
            best, worst = max(best, x), min(worst, x)
        if sigma * (best - worst) <= most or kernels[q] == BY_TREE:
            continue
        second, last_but_one = worst, best
        for x in s:
            second = x if second < x < best else second
            last_but_one = x if last_but_one > x > worst else last_but_one
        high, low = best, worst
        if sigma * (second - worst) <= others:
            high = worst + most / sigma
        elif sigma * (best - last_but_one) <= others:
            low = best - most / sigma
        # Scores of 1e17 do not change by as little.
        if sigma * (high - low) > most + 1 or not (high > second and low < last_but_one):
            kernels[q] = BY_PLAIN_LOOP
            continue
        for i in range(s.size):
            s[i] = min(max(s[i], low), high)
