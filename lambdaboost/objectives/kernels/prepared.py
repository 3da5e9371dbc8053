"""`PreparedPairs`: the pairs of a rule in some queries, found once, and summed at the scores of every round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, NDCG
from lambdaboost.evaluation.rankings import sort_queries
from lambdaboost.objectives.kernels.dispatch import (
    BY_LANES,
    BY_PLAIN_LOOP,
    BY_SWEEP,
    BY_TILES,
    BY_TREE,
    choose_kernel,
    clip_outliers,
)
from lambdaboost.objectives.kernels.exp import RATIO_RANGE
from lambdaboost.objectives.kernels.lanes import Results, gradient_by_lanes, in_batches
from lambdaboost.objectives.kernels.noise import Noise, add_noise, digest_levels, digest_round, mean_discounts
from lambdaboost.objectives.kernels.pair_rule import PairRule, RankNoise
from lambdaboost.objectives.kernels.pair_weight import MeanDcg, PairWeights
from lambdaboost.objectives.kernels.query import Lists, gradient_by_plain_loop, gradient_by_tiles
from lambdaboost.objectives.kernels.sweep import gradient_by_sweep
from lambdaboost.objectives.kernels.tree import gradient_by_tree

Floats = NDArray[np.float64]
Order = NDArray[np.int32]  # (n_documents,) the documents of each query by score, counted within the query
Derivatives = NDArray[np.floating]  # λ or μ of every document; float32 where kernels give them

NO_ORDER, NO_SCORES = np.empty(0, np.int32), np.empty(0)
LONG_LISTS = {
    BY_TILES: gradient_by_tiles,
    BY_TREE: gradient_by_tree,
    BY_SWEEP: gradient_by_sweep,
    BY_PLAIN_LOOP: gradient_by_plain_loop,
}


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
        self.loss, self.sigma, self.offsets, self.noise = rule.loss, rule.sigma, q.offsets, rule.noise
        self.discounts: NDArray[np.float32] | None = None
        if self.noise is not None:
            self.of_levels = digest_levels(q, levels)
            if isinstance(rule.metric, NDCG | CNDCG):
                self.discounts = self.weights.discounts.astype(np.float32)
                self.rows = (np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)).astype(np.int32)
                # Any document may come above the cutoff, at most one for each rank and draw.
                cutoff = self.noise.draws * self.weights.cutoff
                self.weights = self.weights._replace(swap=MeanDcg(np.empty(0, np.float32)), cutoff=cutoff)
        self.kernels = choose_kernel(q, levels, self.weights)
        if self.noise is not None:  # the tree knows only the ranking by score
            self.kernels = np.where(self.kernels == BY_TREE, BY_TILES, self.kernels).astype(np.int8)
        self.groups = group_by_kernel(self.kernels)
        self.batches = in_batches(q, levels) if BY_LANES in self.groups else None
        # Kernels of long lists are compiled for one type of levels.
        self.levels = levels if list(self.groups) == [BY_LANES] else levels.wide()
        self.none = np.zeros(q.n_queries, dtype=bool)

    def __call__(self, now: Round) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document, new arrays."""
        if self.noise is None:
            out: NDArray[np.floating] = self._sum(now, self.weights, now.order)
        else:
            out = self._sum_noisy(now, self.noise)
        if self.sigma != 1:
            out[0] *= np.float32(self.sigma)
            out[1] *= np.float32(self.sigma**2)
        return out[0], out[1]

    def _sum_noisy(self, now: Round, ranks: RankNoise) -> NDArray[np.floating]:
        """λ and μ before σ, each pair weighted by the mean over noisy rankings."""
        noise = Noise(self.of_levels, digest_round(ranks.seed, now.iteration), np.float32(ranks.beta))
        if self.discounts is not None:
            by_lanes = self.kernels == BY_LANES
            order = self.rows.copy()
            mean = mean_discounts(
                now.scores, self.offsets, self.batches, noise, ranks.draws, self.discounts, by_lanes, order
            )
            return self._sum(now, self.weights._replace(swap=MeanDcg(mean)), order, is_sorted=True)
        sums, noisy = np.zeros((2, now.scores.size)), np.empty(now.scores.size)
        for draw in range(ranks.draws):
            over_queries(add_noise, self.offsets, noise, draw, now.scores, noisy)
            sums += self._sum(now, self.weights, None, ranked_by=noisy)
        return sums / ranks.draws

    def _sum(
        self,
        now: Round,
        weights: PairWeights,
        order: Order | None,
        *,
        is_sorted: bool = False,
        ranked_by: Floats | None = None,
    ) -> NDArray[np.float32]:
        """λ and μ before σ, (2, n_documents).

        Ranks are those by `ranked_by`, by default the scores. `order` is memory for the documents by rank, or has them
        already; None if nobody else reads it.
        """
        groups, near = self.groups, now.scores
        if self.loss.sigmoid.sigma * now.spread + abs(self.loss.sigmoid.center) > RATIO_RANGE:
            near, kernels = clip_outliers(now.scores, self.offsets, self.kernels, self.loss)
            groups = group_by_kernel(kernels)

        # Short lists, which count their ranks themselves.
        out = np.empty((2, now.scores.size), np.float32)
        is_sorted = is_sorted or (order is not None and bool(order[0] >= 0))
        by_lanes = groups.get(BY_LANES)
        if by_lanes is not None and self.batches is not None:
            results = Results(by_lanes, out, NO_ORDER if order is None or is_sorted else order)
            lists = self.batches, self.levels, self.gain, weights
            gradient_by_lanes(near, NO_SCORES if ranked_by is None else ranked_by, *lists, self.loss, results)

        # Longer lists, in their order.
        if by_lanes is None or len(groups) > 1:
            if order is None:
                order = np.empty(now.scores.size, np.int32)
            if not is_sorted:
                skipped = self.none if by_lanes is None else by_lanes
                ranks = now.scores if ranked_by is None else ranked_by
                over_queries(sort_queries, self.offsets, skipped, ranks, order)
            for kernel, wanted in groups.items():
                if kernel != BY_LANES:
                    LONG_LISTS[kernel](
                        Lists(wanted, self.levels, weights, self.gain, near, order), self.loss, out
                    )
        return out


def group_by_kernel(kernels: NDArray[np.int8]) -> dict[int, NDArray[np.bool_]]:
    """Which queries each kernel sums, without kernels that sum none."""
    return {int(kernel): kernels == kernel for kernel in np.unique(kernels)}
