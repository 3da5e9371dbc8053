"""AUC by φ_po: each pair is decided by itself, y_gb = sign(s_g − s_b − ½) (2008, eq. 8); O(n log n) for the sorting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel
from lambdaboost.datasets import Queries
from lambdaboost.objectives.inference.orders import BAD, GOOD, infer, of_class, taken, write_forces
from lambdaboost.objectives.inference.violators import Violators


def auc_violators(scores: NDArray[np.float64], q: Queries, threshold: float) -> Violators:
    """ŷ for the share of pairs in the wrong order."""
    return infer(_block, scores, q, threshold)


@inlined
def _place(s_good, s_bad, above):
    """Bad documents within ½ below a good one stand above it; Δ is the share of such pairs."""
    j, wrong = 0, 0
    for i in range(s_good.size):
        while j < s_bad.size and s_bad[j] + 0.5 > s_good[i]:
            j += 1
        above[i] = j
        wrong += j
    return wrong / (s_good.size * s_bad.size)


@inlined
def _query(order, scores, classes, direction):
    goods, bads = of_class(order, classes, GOOD), of_class(order, classes, BAD)
    if goods.size == 0:
        return 0.0
    above = np.empty(goods.size, dtype=np.int64)
    loss = _place(taken(scores, goods), taken(scores, bads), above)
    write_forces(goods, bads, above, direction)
    return loss


@kernel
def _block(first, last, offsets, order, scores, classes, loss, direction):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        loss[q] = _query(order[a:b], scores[a:b], classes[a:b], direction[a:b])
