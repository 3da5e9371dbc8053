"""The change |ΔZ| of each measure when two documents swap: one measure per file, and here which swap is whose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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
from lambdaboost.objectives.swaps.dcg import (
    hits_over_k,
    hits_over_relevant,
    normalized_gains,
    swap_of_dcg,
    swap_of_hits,
)
from lambdaboost.objectives.swaps.err import swap_of_err
from lambdaboost.objectives.swaps.map import one_over_m, swap_of_map
from lambdaboost.objectives.swaps.mrr import gain_of_mrr, swap_of_mrr
from lambdaboost.objectives.swaps.pair_accuracy import swap_of_pair_accuracy
from lambdaboost.objectives.swaps.spearman import ranks_of_labels, swap_of_spearman


class SwapOf(NamedTuple):
    """How to compute the swaps of a measure: two functions of (measure, queries)."""

    # The gain of every document, (n_documents,): a pair weighs as much as the difference.
    gains: Callable[[Any, Queries], NDArray[Any]]
    # What |ΔZ| is by the ranks: a swap (`swap`).
    make: Callable[[Any, Queries], Any]


# The measures whose swaps weight pairs.
SWAPS: dict[type[Measure], SwapOf] = {
    NDCG: SwapOf(normalized_gains, swap_of_dcg),
    CNDCG: SwapOf(normalized_gains, swap_of_dcg),
    Precision: SwapOf(hits_over_k, swap_of_hits),
    Recall: SwapOf(hits_over_relevant, swap_of_hits),
    MAP: SwapOf(one_over_m, swap_of_map),
    MRR: SwapOf(gain_of_mrr, swap_of_mrr),
    ERR: SwapOf(ERR.satisfaction, swap_of_err),
    PairAccuracy: SwapOf(
        lambda metric, q: q.source(metric.source, allow_negative=True), swap_of_pair_accuracy
    ),
    Spearman: SwapOf(ranks_of_labels, swap_of_spearman),
}


def check_swap(name: str, metric: object) -> None:
    """Raise where no swap of `metric` is known."""
    if not isinstance(metric, tuple(SWAPS)):
        known = ", ".join(measure.__name__ for measure in SWAPS)
        raise TypeError(
            f"{name} is {plain(repr(metric))}, expected a measure whose swaps weight pairs: one of {known}"
        )


def swap_of(metric: Measure) -> SwapOf:
    """The swaps of a measure: its own, or those of its nearest base class."""
    return next(SWAPS[cls] for cls in type(metric).__mro__ if cls in SWAPS)
