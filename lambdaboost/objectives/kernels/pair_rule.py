"""`PairRule`: which pairs count, their weights and their force; and λ and μ summed over them.

Short lists go in lanes, very long ones by the tree, all others in tiles, one query after the other (`query`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.rankings import sort_queries
from lambdaboost.objectives.kernels.dispatch import (
    BY_LANES,
    BY_PLAIN_LOOP,
    BY_TILES,
    BY_TREE,
    choose_kernel,
    clip_outliers,
)
from lambdaboost.objectives.kernels.lanes import Results, gradient_by_lanes, in_batches
from lambdaboost.objectives.kernels.levels import Levels, levels_of
from lambdaboost.objectives.kernels.loss import ByRatio, Logistic, LogisticPlusLocal, Loss
from lambdaboost.objectives.kernels.pair_weight import PairFactors, PairWeights, by_gain
from lambdaboost.objectives.kernels.query import Lists, gradient_by_plain_loop, gradient_by_tiles
from lambdaboost.objectives.kernels.tree import gradient_by_tree
from lambdaboost.objectives.swaps.registry import level_gains, pair_weights, unweighted

Floats = NDArray[np.float64]
Derivatives = NDArray[np.floating]  # λ or μ of every document; float32 where kernels give them


class Pairs(NamedTuple):
    """The pairs of some queries: between which levels, with which weights and which force."""

    levels: Levels
    gain: NDArray[np.float32]  # of each level
    weights: PairWeights
    loss: Loss


@dataclass(frozen=True)
class PairRule:
    """λ and μ summed over pairs of documents that differ in `source` and tie in every source of `within`.

    `logistic` and `local` are the weights of the two forces (`loss`).
    """

    source: str
    metric: Measure | None = None  # its |ΔZ| weights a pair; None: every weight is 1
    within: tuple[str, ...] = ()
    skip_zero: bool = False
    sigma: float = 1.0
    center: float = 0.0  # c of ρ = 1/(1 + e^{σ(s_i − s_j) + c}), at most 50; a margin m of the scores is −σm
    logistic: float = 1.0
    local: float = 0.0
    factors: PairFactors | None = None  # of the better document, which multiply the weight of a pair

    def __post_init__(self) -> None:
        # A level has the gain of any of its documents, so all must have the same.
        if self.metric is not None and self.metric.source != self.source:
            raise ValueError(
                f"metric {self.metric!r} reads {self.metric.source!r}, but pairs differ in {self.source!r}: give a "
                "measure of that source"
            )

    def blended(self, other: PairRule, w: float) -> PairRule | None:
        """The rule of (1 − w) times this one plus w times the other; None unless they differ in the force alone."""
        if self.sigma != 1 or self._without_gradient() != other._without_gradient():
            return None
        return replace(
            self,
            logistic=(1 - w) * self.logistic + w * other.logistic,
            local=(1 - w) * self.local + w * other.local,
        )

    def _without_gradient(self) -> PairRule:
        return replace(self, logistic=0.0, local=0.0)

    @cached_property
    def loss(self) -> Loss:
        """The force and where its logistic stands."""
        mixed = (self.logistic, self.local) != (1, 0)
        gradient = (
            LogisticPlusLocal(np.float32(self.logistic), np.float32(self.local)) if mixed else Logistic()
        )
        return Loss(
            gradient, ByRatio(float(self.sigma), float(self.center), np.float32(math.exp(self.center)))
        )

    def lambdas(
        self, scores: Floats, q: Queries, order: NDArray[np.int32] | None = None
    ) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document; calls at the same scores can share an `order` made by `no_order`."""
        lam, mu = pair_gradient(scores, q, self.pairs(scores, q), order)
        if self.sigma != 1:
            lam *= np.float32(self.sigma)
            mu *= np.float32(self.sigma**2)
        return lam, mu

    def lambdas_at(self, rankers: Floats, scores: Floats, q: Queries) -> tuple[Floats, Floats]:
        """λ and μ, each pair weighted by its mean swap under the rankings by `rankers` (draws, n_documents)."""
        pairs, sums = self.pairs(scores, q), np.zeros((2, q.n_documents))
        for ranker in rankers:
            sums += pair_gradient(scores, q, pairs, ranking=_order(ranker, q))
        return self.sigma / len(rankers) * sums[0], self.sigma**2 / len(rankers) * sums[1]

    def levels(self, q: Queries) -> Levels:
        """Which documents pair with which."""
        return levels_of(q, self.source, self.within, self.skip_zero)

    def pairs(self, scores: Floats, q: Queries) -> Pairs:
        """The pairs, with the factors of their documents at these scores."""
        levels, gain, weights = self._known(q)
        if self.factors is not None:
            weights = weights._replace(factors=self.factors.of(scores, q))
        return Pairs(levels, gain, weights, self.loss)

    def _known(self, q: Queries) -> tuple[Levels, NDArray[np.float32], PairWeights]:
        """Levels, their gains, and the weights of their pairs, which are known before any score; cached in `q`."""

        def build() -> Any:
            levels = self.levels(q)
            weights = unweighted(q) if self.metric is None else pair_weights(self.metric, q)
            return levels, level_gains(self.metric, weights, q, levels), weights

        key = ("pairs", self.source, self.within, self.skip_zero, self.metric)
        known: tuple[Levels, NDArray[np.float32], PairWeights] = q.memo(key, build)
        return known

    def has_pair(self, q: Queries) -> bool:
        """Whether any pair has a weight above 0, by its labels, its gains and its query."""
        levels, gain, weights = self._known(q)
        found = levels.pairs() > 0
        # Gains are those above the worst level of a run.
        if self.metric is not None and by_gain(weights.swap):
            found = np.bincount(levels.query(), gain > 0, q.n_queries) > 0
        return bool((found & (q.query_weight > 0)).any())


def no_order(q: Queries) -> NDArray[np.int32]:
    """Memory for the documents of each query by score, still unknown: all −1."""
    return np.full(q.n_documents, -1, dtype=np.int32)


def _order(scores: Floats, q: Queries) -> NDArray[np.int32]:
    """The documents of each query by score."""
    order = no_order(q)
    over_queries(sort_queries, q.offsets, np.zeros(q.n_queries, dtype=bool), scores, order)
    return order


def pair_gradient(
    scores: Floats,
    q: Queries,
    pairs: Pairs,
    order: NDArray[np.int32] | None = None,
    *,
    ranking: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """λ and μ of every document, float32 (n_documents,), before they are multiplied by σ and σ².

    The first call at some scores fills `order`, memory from `no_order`; later ones at the same scores skip the sort.
    Pairs of two documents past the cutoff do not count. `ranking` is the one whose swaps weight pairs, if it is not
    that by score.
    """
    levels, gain, weights, loss = pairs
    known = order is not None and bool(order[0] >= 0)
    kernel = choose_kernel(q, levels, weights)
    if ranking is not None:  # lanes and the tree know only that by score
        kernel = np.full(q.n_queries, BY_TILES, dtype=np.int8)
    near, kernel = clip_outliers(scores, q, kernel, loss)
    by_lanes = kernel == BY_LANES
    batches = in_batches(q, levels) if by_lanes.any() else None
    out = np.empty((2, q.n_documents), np.float32)  # only now, since what is cached needs memory to be made
    if batches is not None:
        to_fill = np.empty(0, dtype=np.int32) if order is None or known else order
        gradient_by_lanes(near, batches, levels, gain, weights, loss, Results(by_lanes, out, to_fill))
        if by_lanes.all():
            return out[0], out[1]
    if order is None:
        order = no_order(q)
    if not known:
        over_queries(sort_queries, q.offsets, by_lanes, scores, order)
    by_rank = order if ranking is None else ranking
    lists = Lists(kernel == BY_TILES, levels.wide(), weights, gain, near, order, by_rank)
    if lists.wanted.any():
        gradient_by_tiles(lists, loss, out)
    for other, compute in ((BY_TREE, gradient_by_tree), (BY_PLAIN_LOOP, gradient_by_plain_loop)):
        if (kernel == other).any():
            compute(lists._replace(wanted=kernel == other), loss, out)
    return out[0], out[1]
