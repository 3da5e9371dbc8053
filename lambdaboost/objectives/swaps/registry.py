"""Which swap weighs the pairs of which measure: each swap file registers its own with `swap_of`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.kernels.pair_weight import PairWeights, Unit
from lambdaboost.objectives.kernels.two_floats import TwoFloats, split

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
        raise TypeError(f"{name} is {metric!r}, expected a measure whose swaps weigh pairs: one of {known}")


def pair_weights(metric: Any, q: Queries) -> PairWeights:
    """The swap of a measure, and what it reads besides the scores."""
    return next(weigh for measure, weigh in SWAPS.items() if isinstance(metric, measure))(metric, q)


def unweighted(q: Queries) -> PairWeights:
    """Every pair weighs 1."""
    none = q.memo("no gains", lambda: np.zeros(q.n_documents, dtype=np.float32))
    return PairWeights(Unit(), (none, none), (none, none), q.n_documents)


def swap_gains(metric: Any, q: Queries) -> TwoFloats:
    """What each document is worth in a swap."""
    return q.memo((replace(metric, empty=0.0), "swap gains"), lambda: split(metric.swap_gains(q)))


def by_ranking(swap: Any, metric: Any, q: Queries) -> PairWeights:
    """The weights of a swap that makes d and h of the ranks itself, by the documents there."""
    none = np.zeros(0, dtype=np.float32)
    cutoff = getattr(metric, "k", None) or q.n_documents
    return PairWeights(swap, swap_gains(metric, q), (none, none), cutoff)
