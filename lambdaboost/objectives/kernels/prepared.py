"""`PreparedPairs`: the pairs of a rule in some queries, found once, and summed at the scores of every round.

Which of five kernels sums the pairs of each query is decided before any of them runs:

kernel  queries                                                    loop
lanes   up to 40 documents                                         64 lists side by side (`lanes`)
tree    many pairs, few levels, a swap that is a sum of terms      runs of documents interact (`tree`)
sweep   the same, of weights by the mean discount of a document   documents by that, at fixed points (`sweep`)
tiles   all others                                                 one list after the other (`tiles`)
float64 scores too far apart for one float32, even when a lone     one pair after the other (`in_float64`)
        highest or lowest one is clipped; `PairAccuracy`
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, NDCG
from lambdaboost.evaluation.rankings import sort_queries
from lambdaboost.objectives.kernels.in_float64 import lambdas_in_float64
from lambdaboost.objectives.kernels.lanes import LONGEST_IN_LANES, Results, in_batches, lambdas_by_lanes
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.noise import Noise, add_noise, digest_levels, digest_round, mean_discounts
from lambdaboost.objectives.kernels.pair_rule import PairRule, RankNoise
from lambdaboost.objectives.kernels.sigmoid import FLOAT32_ZERO, RATIO_RANGE, Sigmoid
from lambdaboost.objectives.kernels.sweep import lambdas_by_sweep
from lambdaboost.objectives.kernels.tiles import Lists, PairFormula, lambdas_by_tiles
from lambdaboost.objectives.kernels.tree import is_tree_faster, lambdas_by_tree
from lambdaboost.objectives.swaps.dcg import MeanDcg
from lambdaboost.objectives.swaps.swap import by_document, counts_pairs

Floats = NDArray[np.float64]
Order = NDArray[np.int32]  # (n_documents,) the documents of each query by score, counted within the query
Derivatives = NDArray[np.floating]  # λ or μ of every document; float32 where kernels give them

BY_LANES, BY_TILES, BY_TREE, BY_SWEEP, BY_FLOAT64 = range(5)
Kernels = NDArray[np.int8]  # one of these for each query
NO_ORDER, NO_SCORES, NO_FACTOR = np.empty(0, np.int32), np.empty(0), np.empty(0, np.float32)
LONG_LISTS = {
    BY_TILES: lambdas_by_tiles,
    BY_TREE: lambdas_by_tree,
    BY_SWEEP: lambdas_by_sweep,
    BY_FLOAT64: lambdas_in_float64,
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

    def __init__(self, rule: PairRule, q: Queries, swap: Any = None) -> None:
        """Find the levels, gains and weights of the pairs; `swap` replaces that of the rule's measure."""
        levels, self.gain, of_measure = rule.read(q)
        self.swap = of_measure if swap is None else swap
        self.factor = NO_FACTOR if rule.factors is None else rule.factors.of(q)
        self.force, self.sigmoid, self.offsets, self.noise = rule.force, rule.sigmoid, q.offsets, rule.noise
        self.discounts: NDArray[np.float32] | None = None
        if self.noise is not None:
            self.of_levels = digest_levels(q, levels)
            if isinstance(rule.metric, NDCG | CNDCG):
                self.discounts = self.swap.discounts.astype(np.float32)
                self.rows = (np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)).astype(np.int32)
                # Any document may come above the cutoff, at most one for each rank and draw.
                self.swap = MeanDcg(np.empty(0, np.float32), self.noise.draws * self.swap.cutoff)
        self.kernels = choose_kernel(q, levels, self.swap, self.factor)
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
            out: NDArray[np.floating] = self._sum(now, self.swap, now.order)
        else:
            out = self._sum_noisy(now, self.noise)
        sigma = self.sigmoid.sigma
        if sigma != 1:
            out[0] *= np.float32(sigma)
            out[1] *= np.float32(sigma**2)
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
            return self._sum(now, MeanDcg(mean, self.swap.cutoff), order, is_sorted=True)
        sums, noisy = np.zeros((2, now.scores.size)), np.empty(now.scores.size)
        for draw in range(ranks.draws):
            over_queries(add_noise, self.offsets, noise, draw, now.scores, noisy)
            sums += self._sum(now, self.swap, None, ranked_by=noisy)
        return sums / ranks.draws

    def _sum(
        self,
        now: Round,
        swap: Any,
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
        if self.sigmoid.sigma * now.spread + abs(self.sigmoid.center) > RATIO_RANGE:
            near, kernels = clip_outliers(now.scores, self.offsets, self.kernels, self.sigmoid)
            groups = group_by_kernel(kernels)

        # Short lists, which count their ranks themselves.
        out = np.empty((2, now.scores.size), np.float32)
        formula = PairFormula(swap, self.force, self.sigmoid)
        is_sorted = is_sorted or (order is not None and bool(order[0] >= 0))
        by_lanes = groups.get(BY_LANES)
        if by_lanes is not None and self.batches is not None:
            results = Results(by_lanes, out, NO_ORDER if order is None or is_sorted else order)
            ranks = NO_SCORES if ranked_by is None else ranked_by
            short = self.batches, self.levels, self.gain, self.factor
            lambdas_by_lanes(near, ranks, *short, formula, results)

        # Longer lists, in their order.
        if by_lanes is None or len(groups) > 1:
            if order is None:
                order = np.empty(now.scores.size, np.int32)
            if not is_sorted:
                skipped = self.none if by_lanes is None else by_lanes
                ranks = now.scores if ranked_by is None else ranked_by
                over_queries(sort_queries, self.offsets, skipped, ranks, order)
            for which, wanted in groups.items():
                if which != BY_LANES:
                    lists = Lists(wanted, self.levels, self.gain, self.factor, near, order)
                    LONG_LISTS[which](lists, formula, out)
        return out


def group_by_kernel(kernels: NDArray[np.int8]) -> dict[int, NDArray[np.bool_]]:
    """Which queries each kernel sums, without kernels that sum none."""
    return {int(kernel): kernels == kernel for kernel in np.unique(kernels)}


def choose_kernel(q: Queries, levels: Levels, swap: Any, factor: NDArray[np.float32]) -> Kernels:
    """The kernel of each query whose scores are near each other, (n_queries,)."""

    def build() -> tuple[Kernels, Levels]:
        if counts_pairs(swap):
            return np.full(q.n_queries, BY_FLOAT64, dtype=np.int8), levels
        kernels = np.full(q.n_queries, BY_TILES, dtype=np.int8)
        kernels[q.sizes <= LONGEST_IN_LANES] = BY_LANES
        if factor.size == 0:  # the tree sums runs of documents that count alike
            kernels[is_tree_faster(q, levels, swap)] = BY_SWEEP if by_document(swap) else BY_TREE
        return kernels, levels

    key = ("kernels", id(levels.of_document), type(swap), swap.cutoff, factor.size == 0)
    kernels: Kernels = q.memo(key, build)[0]
    return kernels


def clip_outliers(
    scores: Floats, offsets: NDArray[np.int64], kernels: Kernels, sigmoid: Sigmoid
) -> tuple[Floats, Kernels]:
    """The scores, a lone outlier nearer to the others, and the kernels, BY_FLOAT64 where that is not enough."""
    sigma, center, _ = sigmoid
    near, kernels = scores.copy(), kernels.copy()
    most = RATIO_RANGE - abs(center)
    over_queries(_clip_outliers, offsets, (sigma, most, most - FLOAT32_ZERO - abs(center)), near, kernels)
    return near, kernels


@kernel
def _clip_outliers(first, last, offsets, limits, scores, kernels):
    """Move the highest or the lowest score of a list of too wide a range, or go BY_FLOAT64 where neither helps.

    `limits` are σ, the widest range, and that of the other scores which leaves the outlier so far from all of them that
    ρ or 1 − ρ is 0 in its pairs, as it was before.
    """
    sigma, most, others = limits
    for q in range(first, last):
        s = scores[offsets[q] : offsets[q + 1]]
        best = worst = s[0]
        for x in s:
            best, worst = max(best, x), min(worst, x)
        if sigma * (best - worst) <= most or kernels[q] == BY_TREE:
            continue
        second, last_but_one = worst, best
        for x in s:
            second = x if second < x < best else second
            last_but_one = x if last_but_one > x > worst else last_but_one
        high, low = best, worst
        if sigma * (second - worst) <= others:
            high = worst + most / sigma
        elif sigma * (best - last_but_one) <= others:
            low = best - most / sigma
        # Scores of 1e17 do not change by as little.
        if sigma * (high - low) > most + 1 or not (high > second and low < last_but_one):
            kernels[q] = BY_FLOAT64
            continue
        for i in range(s.size):
            s[i] = min(max(s[i], low), high)
