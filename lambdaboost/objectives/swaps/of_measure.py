"""What a measure contributes to a pair rule: its swap, gains, discounts and a cutoff."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, ERR, MAP, MRR, NDCG, WTA, Measure, PairAccuracy, Precision
from lambdaboost.objectives.kernels.pair_weight import Dcg, PairWeights, Unit
from lambdaboost.objectives.kernels.precision import LONGEST
from lambdaboost.objectives.kernels.two_floats import TwoFloats, split
from lambdaboost.objectives.swaps.err import ExpectedReciprocalRank
from lambdaboost.objectives.swaps.map import AveragePrecision
from lambdaboost.objectives.swaps.mrr import ReciprocalRank
from lambdaboost.objectives.swaps.pair_accuracy import RightPairs


def check_dcg(name: str, metric: object) -> None:
    """Raise where `metric` is not a measure of the DCG family."""
    if not hasattr(metric, "normalized_gains"):
        raise TypeError(
            f"{name} is {metric!r}, expected a measure of the DCG family such as NDCG() or CNDCG()"
        )


def check_swap(name: str, metric: object) -> None:
    """Raise where no swap of `metric` is known."""
    if not isinstance(metric, tuple(SWAPS)):
        known = ", ".join(measure.__name__ for measure in SWAPS)
        raise TypeError(f"{name} is {metric!r}, expected a measure whose swaps weigh pairs: one of {known}")


def unweighted(q: Queries) -> PairWeights:
    """Every pair weighs 1."""
    none = q.memo("no gains", lambda: np.zeros(q.n_documents, dtype=np.float32))
    return PairWeights(Unit(), (none, none), (none, none), q.n_documents)


def pair_weights(metric: Any, q: Queries) -> PairWeights:
    """The swap of a measure, and what it reads besides the scores."""
    return next(build for measure, build in SWAPS.items() if isinstance(metric, measure))(metric, q)


def _gains(metric: Any, q: Queries) -> TwoFloats:
    """What each document is worth in a swap."""
    return q.memo((replace(metric, empty=0.0), "swap gains"), lambda: split(metric.swap_gains(q)))


def _discounts(q: Queries, k: int | None) -> TwoFloats:
    """D(r) − D(last) for ranks r from 1, D(r) = 1/log2(1 + r) and 0 past the cutoff k, as long as the longest list.

    Swaps read differences alone, and float32 holds most of them close to 0: there stands the last rank of a list whose
    discounts are read as one float32, the same whatever the other lists are.
    """

    def build() -> TwoFloats:
        d = 1 / np.log2(2 + np.arange(q.sizes.max()))
        d[k:] = 0 if k is not None else d[k:]
        return split(d - 1 / np.log2(1 + min(k or LONGEST, LONGEST)))

    return q.memo(("discounts", k), build)


def dcg_weights(metric: Any, q: Queries) -> PairWeights:
    """Gains divided by the ideal DCG, discounts by rank, and the cutoff of a measure of the DCG family."""
    return PairWeights(Dcg(), _gains(metric, q), _discounts(q, metric.k), metric.k or q.n_documents)


def _top(k: int, metric: Any, q: Queries) -> PairWeights:
    """A document counts its gain in the first k ranks, and nothing below."""

    def build() -> TwoFloats:
        return split((np.arange(q.sizes.max()) < k) * 1.0)

    return PairWeights(Dcg(), _gains(metric, q), q.memo(("top", k), build), k)


def _by_ranking(swap: Any) -> Callable[[Any, Queries], PairWeights]:
    """D and h of the ranks depend on the documents there: the swap makes them itself."""

    def build(metric: Any, q: Queries) -> PairWeights:
        none = np.zeros(0, dtype=np.float32)
        return PairWeights(swap, _gains(metric, q), (none, none), getattr(metric, "k", None) or q.n_documents)

    return build


def _err(metric: ERR, q: Queries) -> PairWeights:
    return _by_ranking(ExpectedReciprocalRank(metric.satisfaction(q)))(metric, q)


SWAPS: dict[type[Measure], Callable[[Any, Queries], PairWeights]] = {
    NDCG: dcg_weights,
    CNDCG: dcg_weights,
    MAP: _by_ranking(AveragePrecision()),
    MRR: _by_ranking(ReciprocalRank()),
    ERR: _err,
    WTA: lambda metric, q: _top(1, metric, q),
    Precision: lambda metric, q: _top(metric.k, metric, q),
    PairAccuracy: _by_ranking(RightPairs()),
}
