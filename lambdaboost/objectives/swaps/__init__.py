"""The change |ΔZ| of each measure when two documents swap: one measure per file, and here which swap is whose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lambdaboost._words import plain
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, ERR, MAP, MRR, NDCG, Measure, PairAccuracy, Precision, Spearman
from lambdaboost.objectives.swaps.dcg import swap_of_dcg, swap_of_precision
from lambdaboost.objectives.swaps.err import swap_of_err
from lambdaboost.objectives.swaps.map import swap_of_map
from lambdaboost.objectives.swaps.mrr import swap_of_mrr
from lambdaboost.objectives.swaps.pair_accuracy import swap_of_pair_accuracy
from lambdaboost.objectives.swaps.spearman import swap_of_spearman

# A function of a measure and queries that makes the swap, for each measure whose swaps weight pairs.
SWAPS: dict[type[Measure], Callable[[Any, Queries], Any]] = {
    NDCG: swap_of_dcg,
    CNDCG: swap_of_dcg,
    Precision: swap_of_precision,
    MAP: swap_of_map,
    MRR: swap_of_mrr,
    ERR: swap_of_err,
    PairAccuracy: swap_of_pair_accuracy,
    Spearman: swap_of_spearman,
}


def check_swap(name: str, metric: object) -> None:
    """Raise where no swap of `metric` is known."""
    if not isinstance(metric, tuple(SWAPS)):
        known = ", ".join(measure.__name__ for measure in SWAPS)
        raise TypeError(
            f"{name} is {plain(repr(metric))}, expected a measure whose swaps weight pairs: one of {known}"
        )


def make_swap(metric: Any, q: Queries) -> Any:
    """The swap of a measure in these queries: its own, or that of its nearest base class."""
    return next(SWAPS[cls] for cls in type(metric).__mro__ if cls in SWAPS)(metric, q)
