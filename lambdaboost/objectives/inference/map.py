"""MAP by φ_po: the greedy merge, good document i at rank r earning (1 + i)/(1 + r) of n⁺, both from 0; O(n⁺n⁻)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel
from lambdaboost.datasets import Queries
from lambdaboost.objectives.inference.merge import merge, merge_loss
from lambdaboost.objectives.inference.orders import BAD, GOOD, infer, of_class, taken, write_forces
from lambdaboost.objectives.inference.violators import Violators


def map_violators(scores: NDArray[np.float64], q: Queries, threshold: float) -> Violators:
    """ŷ for 1 − average precision."""
    reciprocals = 1 / (1.0 + np.arange(q.sizes.max() + 1))
    return infer(_block, scores, q, threshold, reciprocals)


@inlined
def _query(order, scores, classes, reciprocals, direction):
    goods, bads = of_class(order, classes, GOOD), of_class(order, classes, BAD)
    if goods.size == 0:
        return 0.0
    worth = np.empty(goods.size)
    for i in range(goods.size):
        worth[i] = (i + 1) / goods.size
    above = np.empty(goods.size, dtype=np.int64)
    merge(taken(scores, goods), taken(scores, bads), worth, reciprocals, above)
    write_forces(goods, bads, above, direction)
    return merge_loss(worth, reciprocals, above)


@kernel
def _block(first, last, offsets, order, scores, classes, reciprocals, loss, direction):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        loss[q] = _query(order[a:b], scores[a:b], classes[a:b], reciprocals, direction[a:b])
