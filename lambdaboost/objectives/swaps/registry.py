"""Which swap weights the pairs of which measure: each swap file registers its own with `swap_of`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import plain
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.kernels.lanes import LONGEST_IN_LANES
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.pair_weight import PairWeights, Unit

Weigh = Callable[[Any, Queries], PairWeights]

SWAPS: dict[type[Measure], Weigh] = {}


def swap_of(*measures: type[Measure]) -> Callable[[Weigh], Weigh]:
    """Register a function of a measure and queries that gives the swap of these measures, and what it reads."""

    def registered(weigh: Weigh) -> Weigh:
        SWAPS.update(dict.fromkeys(measures, weigh))
        return weigh

    return registered


def check_swap(name: str, metric: object) -> None:
    """Raise where no swap of `metric` is known."""
    if not isinstance(metric, tuple(SWAPS)):
        known = ", ".join(measure.__name__ for measure in SWAPS)
        raise TypeError(
            f"{name} is {plain(repr(metric))}, expected a measure whose swaps weight pairs: one of {known}"
        )


def pair_weights(metric: Any, q: Queries) -> PairWeights:
    """The swap of a measure, and what it reads besides the scores: its own, or that of its nearest base class."""
    return next(SWAPS[cls] for cls in type(metric).__mro__ if cls in SWAPS)(metric, q)


def unweighted(q: Queries) -> PairWeights:
    """Every pair weighs 1."""
    return PairWeights(Unit(), np.zeros(0), np.zeros(0), q.n_documents)


def ranks_from_0(q: Queries) -> NDArray[np.int64]:
    """0, 1, … for discounts by rank: as many as the longest query has, and at least as many as lanes read."""
    return np.arange(max(q.sizes.max(), LONGEST_IN_LANES))


def by_ranking(swap: Any, metric: Any, q: Queries) -> PairWeights:
    """The weights of a swap that makes the figures of the ranks itself, by the documents there."""
    cutoff = getattr(metric, "k", None) or q.n_documents
    return PairWeights(swap, metric.swap_gains(q).astype(np.float64), np.zeros(0), cutoff)


def level_gains(metric: Any, weights: PairWeights, q: Queries, levels: Levels) -> NDArray[np.float64]:
    """The gain of each level less that of the worst level of its run, (n_levels,).

    Weights read differences alone. Kernels in float32 hold a gain as a sum of two numbers, so that the difference of
    gains of 1 and 1.0000001 keeps its digits too.
    """
    gains = np.zeros(levels.size.size)
    for first, last, part in q.parts() if metric is not None else ():
        rows = slice(q.offsets[first], q.offsets[last])
        level = levels.of_document[rows]
        try:
            of_rows = weights.gains[rows] if weights.gains.size else metric.swap_gains(part)
        except ValueError:
            metric.swap_gains(q)  # names the row among all
            raise
        paired = level >= 0
        gains[(np.repeat(levels.first[first:last], part.sizes) + level)[paired]] = of_rows[paired]
    worst = levels.first[levels.query()] + levels.reach - 1
    return gains - gains[worst]
