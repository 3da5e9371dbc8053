"""Which queries need two floats to hold the differences of their discounts and gains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.pair_weight import PairWeights

LONGEST = 256  # documents of a list up to which discounts in float32 weigh every pair within 1e-5
CLOSEST = 0.01  # how close two gains may come for that, as a share of the higher


def by_precision(
    q: Queries, levels: Levels, weights: PairWeights
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The queries for which one float32 each holds their discounts and gains, and those where they are too close.

    Masks (n_queries,), the same arrays at every call. Each query alone decides, so that its λ have the same bits
    whatever the other queries are.
    """
    if not weights.discounts[1].any():  # they are 0 and 1
        return every_query(q)
    gains = weights.gains

    def build() -> Any:
        gain = gains[0][levels.row].astype(np.float64) + gains[1][levels.row]
        level_query = np.repeat(np.arange(q.n_queries), np.diff(levels.first))
        close_gains = (gain[:-1] - gain[1:] < CLOSEST * gain[:-1]) & (level_query[:-1] == level_query[1:])
        close = q.sizes > LONGEST
        close[level_query[1:][close_gains]] = True
        return (~close, close) if close.any() else every_query(q), levels, gains

    # Their identities name the levels and the gains as long as they live, and what is kept holds them.
    found: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    found = q.memo(("by precision", id(levels.of_document), id(gains[0])), build)[0]
    return found


def every_query(q: Queries) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of every query and of none."""

    def build() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return np.ones(q.n_queries, dtype=bool), np.zeros(q.n_queries, dtype=bool)

    found: tuple[NDArray[np.bool_], NDArray[np.bool_]] = q.memo("every query", build)
    return found
