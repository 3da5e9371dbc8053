"""`PairRule`: which pairs count, what weighs them and which force pushes them; and λ and μ summed over them.

Short lists go in lanes, very long ones by the tree, all others in tiles, one query after the other (`query`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.ranking import sort_queries
from lambdaboost.objectives.kernels.cutoff import Truncated, Whole
from lambdaboost.objectives.kernels.levels import Levels, levels
from lambdaboost.objectives.kernels.loss import Local, Logistic, Loss, Mixed
from lambdaboost.objectives.kernels.pair_factors import PairFactors, Unfactored
from lambdaboost.objectives.kernels.pair_weight import (
    Dcg,
    PairWeights,
    TwoFloatDcg,
    Unit,
    by_levels,
    of_differences,
)
from lambdaboost.objectives.kernels.precision import by_precision, every_query
from lambdaboost.objectives.kernels.query import Ways, block_of_queries
from lambdaboost.objectives.kernels.short_lists import Results, in_batches, lists_in_lanes
from lambdaboost.objectives.kernels.span import Narrow, Wide
from lambdaboost.objectives.kernels.tree import LEVELS, LEVELS_OF_TERMS, lists_by_tree, worth_a_tree
from lambdaboost.objectives.swaps.registry import pair_weights, unweighted

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Derivatives = NDArray[np.floating]  # λ or μ of every document; float32 where kernels give them


@dataclass(frozen=True)
class PairRule:
    """λ and μ summed over pairs of documents that differ in `source` and tie in every source of `within`.

    `logistic` and `local` are the weights of the two forces (`loss`).
    """

    source: str
    metric: Measure | None = None  # its |ΔZ| weighs a pair; None weighs every pair 1
    within: tuple[str, ...] = ()
    skip_zero: bool = False
    sigma: float = 1.0
    center: float = 0.0
    logistic: float = 1.0
    local: float = 0.0
    factors: PairFactors | None = None  # of both documents, which multiply the weight of a pair

    def blended(self, other: PairRule, w: float) -> PairRule | None:
        """The rule of (1 − w) times this one plus w times the other; None unless they differ in the force alone."""
        if self.sigma != 1 or self._forceless() != other._forceless():
            return None
        return replace(
            self,
            logistic=(1 - w) * self.logistic + w * other.logistic,
            local=(1 - w) * self.local + w * other.local,
        )

    def _forceless(self) -> PairRule:
        return replace(self, logistic=0.0, local=0.0)

    def _force(self) -> Logistic | Local | Mixed:
        if (self.logistic, self.local) == (1, 0):
            return Logistic()
        if (self.logistic, self.local) == (0, 1):
            return Local()
        return Mixed(np.float32(self.logistic), np.float32(self.local))

    def lambdas(
        self, scores: Floats, q: Queries, order: NDArray[np.int32] | None = None
    ) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document; calls at the same scores can share an `order` made by `no_order`."""
        pairs = levels(q, self.source, self.within, self.skip_zero)
        weights = self.weights(scores, q)
        loss = Loss(self._force(), float(self.sigma), float(self.center))
        lam, mu = pair_gradient(scores, q, pairs, weights, loss, order)
        if self.sigma != 1:
            lam *= np.float32(self.sigma)
            mu *= np.float32(self.sigma**2)
        return lam, mu

    def weights(self, scores: Floats, q: Queries) -> PairWeights:
        """What weighs the pairs: the swap, and the factors of their documents."""
        weights = unweighted(q) if self.metric is None else pair_weights(self.metric, q)
        return weights if self.factors is None else weights._replace(factors=self.factors.of(scores, q))


def no_order(q: Queries) -> NDArray[np.int32]:
    """Memory for the documents of each query by score, still unknown: all −1."""
    return np.full(q.n_documents, -1, dtype=np.int32)


def pair_gradient(
    scores: NDArray[np.float64],
    q: Queries,
    levels: Levels,
    weights: PairWeights,
    loss: Loss,
    order: NDArray[np.int32] | None = None,
    drops_to_0: bool = True,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """λ and μ of every document, float32 (n_documents,), before they are multiplied by σ and σ².

    The first call at some scores fills `order`, memory from `no_order`; later ones at the same scores skip the sort.
    Pairs of two documents past the cutoff do not count. `drops_to_0` tells whether discounts are 0 past the cutoff.
    """
    swap = weights.swap
    out = np.empty(q.n_documents, np.float32), np.empty(q.n_documents, np.float32)
    done, by_tree, far = (np.zeros(q.n_queries, dtype=bool) for _ in range(3))
    known = order is not None and bool(order[0] >= 0)
    of_swap = _of_swap(q, levels, weights)
    if drops_to_0 and not by_levels(swap):  # a lane knows neither a cutoff nor pairs of levels
        to_fill = np.empty(0, dtype=np.int32) if order is None or known else order
        results = Results(*out, to_fill, done, far)
        for of, queries in of_swap:
            batches = in_batches(q, levels, queries)
            lists_in_lanes(scores, q, batches, (of, loss, Narrow()), results)
            if (far & queries).any():
                lists_in_lanes(scores, q, batches, (of, loss, Wide()), results)
        if done.all():
            return out
    if order is None:
        order = np.empty(q.n_documents, dtype=np.int32)
    # The tree sums runs of documents that count alike.
    summed = isinstance(swap, Unit | Dcg) or by_levels(swap) or of_differences(swap)
    if drops_to_0 and summed and isinstance(weights.factors, Unfactored):
        most_levels = LEVELS_OF_TERMS if by_levels(swap) else LEVELS
        by_tree = worth_a_tree(q, levels, weights.cutoff, most_levels) & ~done
    if not known:
        over_queries(sort_queries, q.offsets, done, scores, order)
    for of, queries in of_swap:
        for reach, these in _by_reach(q, weights):
            skipped = done | ~queries | ~these
            if not skipped.all():
                ways = Ways(skipped, by_tree, far)
                narrow = of, loss, Narrow(), reach
                over_queries(block_of_queries, q.offsets, narrow, levels, scores, order, ways, out)
            skipped = skipped | ~far | by_tree
            if not skipped.all():
                ways = Ways(skipped, by_tree, far)
                wide = of, loss, Wide(), reach
                over_queries(block_of_queries, q.offsets, wide, levels, scores, order, ways, out)
    for span, these in ((Narrow(), by_tree & ~far), (Wide(), by_tree & far)):
        if these.any():
            lists_by_tree(scores, q, np.flatnonzero(these), levels, (of_swap[-1][0], loss, span), order, out)
    return out


def _of_swap(q: Queries, levels: Levels, weights: PairWeights) -> list[tuple[PairWeights, Mask]]:
    """The swaps that weigh the pairs, each with its queries: by discounts, in one float32 or, where close, in two."""
    if not isinstance(weights.swap, Dcg):
        return [(weights, every_query(q)[0])]
    in_one, in_two = by_precision(q, levels, weights)
    return [(weights, in_one), (weights._replace(swap=TwoFloatDcg()), in_two)]


def _by_reach(q: Queries, weights: PairWeights) -> list[tuple[Whole | Truncated, Mask]]:
    """The queries of which all pairs count, and those with a cutoff or with documents that stand by rank."""
    traits = weights.swap.traits
    if traits.by_levels or traits.own_cutoff:
        return [(Truncated(), every_query(q)[0])]

    def build() -> Any:
        cut = weights.cutoff < q.sizes
        masks = [(Whole(), ~cut), (Truncated(), cut)]
        return [(reach, mask) for reach, mask in masks if mask.any()]

    found: list[tuple[Whole | Truncated, Mask]] = q.memo(("by reach", weights.cutoff), build)
    return found
