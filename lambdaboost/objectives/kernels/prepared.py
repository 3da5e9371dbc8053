"""`PreparedPairs`: the pairs of a rule in some queries, found once, and summed at the scores of every round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import over_queries
from lambdaboost.datasets import Queries
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
from lambdaboost.objectives.kernels.loss import SAFE_RANGE
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.pair_weight import PairWeights
from lambdaboost.objectives.kernels.query import Lists, gradient_by_plain_loop, gradient_by_tiles
from lambdaboost.objectives.kernels.tree import gradient_by_tree

Floats = NDArray[np.float64]
Order = NDArray[np.int32]  # (n_documents,) the documents of each query by score, counted within the query
Derivatives = NDArray[np.floating]  # λ or μ of every document; float32 where kernels give them

NO_ORDER = np.empty(0, np.int32)
LONG_LISTS = {BY_TILES: gradient_by_tiles, BY_TREE: gradient_by_tree, BY_PLAIN_LOOP: gradient_by_plain_loop}


class Round(NamedTuple):
    """What the parts of an objective share in a boosting round."""

    scores: Floats  # (n_documents,), finite
    spread: float  # the highest score less the lowest
    iteration: int
    # Memory for the documents of each query by score, which the first part that sorts fills for the others: all −1
    # before. None where there is only one part.
    order: Order | None = None


class PreparedPairs:
    """λ and μ summed over the pairs of a rule: what does not depend on the scores is found here, once.

    It holds arrays, never the queries, so that whoever keeps it does not keep a data set alive.
    """

    def __init__(self, rule: PairRule, q: Queries, weights: PairWeights | None = None) -> None:
        """Find the levels, gains and weights of the pairs; `weights` replaces those of the rule's measure."""
        levels, self.gain, of_measure = rule.read(q)
        self.weights = of_measure if weights is None else weights
        if rule.factors is not None:
            self.weights = self.weights._replace(factors=rule.factors.of(q))
        self.loss, self.sigma, self.offsets = rule.loss, rule.sigma, q.offsets
        self.kernels = choose_kernel(q, levels, self.weights)
        self.groups = group_by_kernel(self.kernels)
        self.batches = in_batches(q, levels) if BY_LANES in self.groups else None
        # Kernels of long lists are compiled for one type of levels.
        self.levels = levels if list(self.groups) == [BY_LANES] else levels.wide()
        self.none = np.zeros(q.n_queries, dtype=bool)

    def __call__(self, now: Round, ranking: Order | None = None) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document, float32, new arrays.

        `ranking` is the one whose swaps weight pairs, if it is not that by score; only tiles know others.
        """
        groups, near, kernels = self.groups, now.scores, self.kernels
        if ranking is not None:
            kernels = np.full_like(kernels, BY_TILES)
            groups = group_by_kernel(kernels)
        if self.loss.sigmoid.sigma * now.spread + abs(self.loss.sigmoid.center) > SAFE_RANGE:
            near, kernels = clip_outliers(now.scores, self.offsets, kernels, self.loss)
            groups = group_by_kernel(kernels)

        # Short lists, which count their ranks themselves.
        out, order = np.empty((2, now.scores.size), np.float32), now.order
        is_sorted = order is not None and bool(order[0] >= 0)
        by_lanes = groups.get(BY_LANES)
        if by_lanes is not None and self.batches is not None:
            results = Results(by_lanes, out, NO_ORDER if order is None or is_sorted else order)
            gradient_by_lanes(near, self.batches, self.levels, self.gain, self.weights, self.loss, results)

        # Longer lists, in their order.
        if by_lanes is None or len(groups) > 1:
            if order is None:
                order = np.empty(now.scores.size, np.int32)
            if not is_sorted:
                over_queries(
                    sort_queries, self.offsets, self.none if by_lanes is None else by_lanes, now.scores, order
                )
            by_rank = order if ranking is None else ranking
            for kernel, wanted in groups.items():
                if kernel != BY_LANES:
                    lists = Lists(wanted, self.levels, self.weights, self.gain, near, order, by_rank)
                    LONG_LISTS[kernel](lists, self.loss, out)

        if self.sigma != 1:
            out[0] *= np.float32(self.sigma)
            out[1] *= np.float32(self.sigma**2)
        return out[0], out[1]


def group_by_kernel(kernels: NDArray[np.int8]) -> dict[int, NDArray[np.bool_]]:
    """Which queries each kernel sums, without kernels that sum none."""
    return {int(kernel): kernels == kernel for kernel in np.unique(kernels)}


def no_order(n_documents: int) -> Order:
    """Memory for an order that is still unknown."""
    return np.full(n_documents, -1, dtype=np.int32)
