"""Gains and ranks that the swaps of several measures read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.levels import LONGEST_IN_LANES, Levels


def ranks_from_0(q: Queries) -> NDArray[np.int64]:
    """0, 1, … for discounts by rank: as many as the longest query has, and at least as many as lanes read."""
    return np.arange(max(q.sizes.max(), LONGEST_IN_LANES))


def gains_and_cutoff(metric: Any, q: Queries) -> tuple[NDArray[np.float64], int]:
    """The gain of every document, and the cutoff, of a swap that reads the documents at each rank."""
    return metric.swap_gains(q).astype(np.float64), getattr(metric, "k", None) or q.n_documents


def level_gains(metric: Any, swap: Any, q: Queries, levels: Levels) -> NDArray[np.float64]:
    """The gain of each level less that of the worst level of its run, (n_levels,).

    Swaps read differences alone. Kernels in float32 hold a gain as a sum of two numbers, so that the difference of
    gains of 1 and 1.0000001 keeps its digits too.
    """
    gains, of_swap = np.zeros(levels.size.size), getattr(swap, "gains", None)
    for first, last, part in q.parts() if metric is not None else ():
        rows = slice(q.offsets[first], q.offsets[last])
        level = levels.of_document[rows]
        try:
            of_rows = metric.swap_gains(part) if of_swap is None else of_swap[rows]
        except ValueError:
            metric.swap_gains(q)  # names the row among all
            raise
        paired = level >= 0
        gains[(np.repeat(levels.first[first:last], part.sizes) + level)[paired]] = of_rows[paired]
    worst = levels.first[levels.query()] + levels.reach - 1
    return gains - gains[worst]
