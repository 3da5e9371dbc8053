"""The swap of discounted gains, |G_i − G_j| |D(r_i) − D(r_j)|: NDCG, CNDCG, and where the first ranks alone count.

`kernels.pair_weight.Dcg` is the swap itself; here are its gains and discounts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import shorten_repr
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, NDCG, Precision
from lambdaboost.objectives.kernels.pair_weight import Dcg, PairWeights
from lambdaboost.objectives.swaps.registry import ranks_from_0, swap_of


def check_dcg(name: str, metric: object) -> None:
    """Raise where `metric` is not a measure of the DCG family."""
    if isinstance(metric, type) or not hasattr(metric, "normalized_gains"):
        raise TypeError(
            f"{name} is {shorten_repr(metric)}, expected a measure of the DCG family such as NDCG() or CNDCG()"
        )


def _discounts(q: Queries, k: int | None) -> NDArray[np.float64]:
    """1/log2(1 + r) for ranks r from 1, 0 past the cutoff k."""

    def build() -> NDArray[np.float64]:
        d = 1 / np.log2(2 + ranks_from_0(q))
        if k is not None:
            d[k:] = 0
        return d

    found: NDArray[np.float64] = q.memo(("discounts", k), build)
    return found


@swap_of(NDCG, CNDCG)
def dcg_weights(metric: Any, q: Queries) -> PairWeights:
    """Discounts by rank and the cutoff of a measure of the DCG family; gains are divided by the ideal DCG."""
    return PairWeights(Dcg(), np.zeros(0), _discounts(q, metric.k), metric.k or q.n_documents)


@swap_of(Precision)
def _first_ranks(metric: Precision, q: Queries) -> PairWeights:
    """A document counts its gain in the first k ranks, and nothing below."""
    counts = q.memo(("first ranks", metric.k), lambda: (ranks_from_0(q) < metric.k) * 1.0)
    return PairWeights(Dcg(), np.zeros(0), counts, metric.k)
