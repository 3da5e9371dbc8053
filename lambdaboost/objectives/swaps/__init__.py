"""The change |ΔZ| of each measure when two documents swap: one measure per file, and here which swap is whose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from lambdaboost._words import plain
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import (
    CNDCG,
    ERR,
    MAP,
    MRR,
    NDCG,
    Measure,
    PairAccuracy,
    Precision,
    Recall,
    Spearman,
)
from lambdaboost.evaluation.binary import relevant
from lambdaboost.objectives.swaps.dcg import Dcg, hits_over_k, hits_over_relevant, normalized_gains
from lambdaboost.objectives.swaps.err import ExpectedReciprocalRank
from lambdaboost.objectives.swaps.map import AveragePrecision, one_over_m
from lambdaboost.objectives.swaps.mrr import ReciprocalRank
from lambdaboost.objectives.swaps.pair_accuracy import TurnedPairs
from lambdaboost.objectives.swaps.spearman import LabelledRanks, ranks_of_labels
from lambdaboost.objectives.swaps.swap import Swap

# Two functions of a measure and queries: the gain of every document, (n_documents,), by whose differences pairs are
# weighted, and the swap, what |ΔZ| is by the ranks.
GainsAndSwap = tuple[Callable[[Any, Queries], NDArray[Any]], Callable[[Any, Queries], Swap]]

# The measures whose swaps weight pairs.
SWAPS: dict[type[Measure], GainsAndSwap] = {
    NDCG: (normalized_gains, Dcg.of),
    CNDCG: (normalized_gains, Dcg.of),
    Precision: (hits_over_k, Dcg.of_hits),
    Recall: (hits_over_relevant, Dcg.of_hits),
    MAP: (one_over_m, AveragePrecision.of),
    MRR: (relevant, ReciprocalRank.of),
    ERR: (ERR.satisfaction, ExpectedReciprocalRank.of),
    PairAccuracy: (lambda metric, q: q.source(metric.source, allow_negative=True), TurnedPairs.of),
    Spearman: (ranks_of_labels, LabelledRanks.of),
}


def has_swap(measure: Any) -> bool:
    """Whether the swaps of a measure are known: its own, or those of its base class, unless its values are others."""
    base = next((cls for cls in type(measure).__mro__ if cls in SWAPS), None)
    return base is not None and type(measure).values is base.values


def check_swap(name: str, metric: Any) -> None:
    """Raise where no swap of `metric` is known."""
    if isinstance(metric, tuple(SWAPS)) and not has_swap(metric):
        raise TypeError(
            f"{name} is {plain(repr(metric))}, which has values of its own, not those of its base class, so that its "
            "swaps are unknown: give the base class, or write an objective for it, a subclass of Objective"
        )
    if not has_swap(metric):
        known = ", ".join(measure.__name__ for measure in SWAPS)
        raise TypeError(
            f"{name} is {plain(repr(metric))}, expected a measure whose swaps weight pairs: one of {known}"
        )


def gains_and_swap(metric: Measure) -> GainsAndSwap:
    """The two functions of a measure: its own, or those of its nearest base class."""
    return next(SWAPS[cls] for cls in type(metric).__mro__ if cls in SWAPS)
