"""`PreparedPairs`: the pairs of a rule in some queries, found once, and summed at the scores of every round.

Which kernel sums the pairs of each query is decided before any of them runs, by its length, levels and swap
(`choose_kernels`) and in each round by how far apart its scores lie (`narrow_gaps`). The head of `kernels` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.lanes import LONGEST_IN_LANES
from lambdaboost.evaluation.levels import Levels
from lambdaboost.evaluation.rankings import sort_queries
from lambdaboost.objectives.kernels.in_float64 import sum_in_float64
from lambdaboost.objectives.kernels.lanes import in_batches, sum_by_lanes
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.sigmoid import FLOAT32_ZERO, RATIO_RANGE, SWEEP_RANGE, Force
from lambdaboost.objectives.kernels.sweep import is_sweep_faster, sum_by_sweep
from lambdaboost.objectives.kernels.tiles import sum_by_tiles
from lambdaboost.objectives.swaps.swap import PAIRS, Swap

Floats = NDArray[np.float64]
Order = NDArray[np.int32]  # (n_documents,) the documents of each query by score, counted within the query

BY_LANES, BY_TILES, BY_SWEEP, BY_FLOAT64 = range(4)
LONG_LISTS: dict[int, Callable[..., None]] = {
    BY_TILES: sum_by_tiles,
    BY_SWEEP: sum_by_sweep,
    BY_FLOAT64: sum_in_float64,
}


class Round(NamedTuple):
    """What the parts of an objective share in a boosting round."""

    scores: Floats  # (n_documents,), finite
    spread: float  # the highest score less the lowest
    iteration: int
    # Memory for the documents of each query by score, which the first part that sorts fills for the others: all −1
    # before. None where there is only one part.
    order: Order | None = None


LambdaMu = tuple[NDArray[np.floating], NDArray[np.floating]]  # of every document, before weights
LambdaFunction = Callable[[Round], LambdaMu]  # of the queries for which `Objective.prepare` gave it


class PreparedPairs:
    """λ and μ summed over the pairs of a rule: what does not depend on the scores is found here, once.

    It holds arrays, never the queries, so that whoever keeps it does not keep a data set alive.
    """

    def __init__(self, rule: PairRule, q: Queries, swap: Swap | None = None) -> None:
        """Find the levels, gains and weights of the pairs; a `swap` replaces that of the rule's measure."""
        levels, gain, of_measure = rule.read(q)
        self.swap = of_measure if swap is None else swap
        self.force, self.offsets = rule.force, q.offsets
        self.factor = rule.factors(q)
        self.kernels = choose_kernels(q, levels, self.swap)
        self.groups = group_by_kernel(self.kernels)
        self.long = self.kernels != BY_LANES  # the queries that are sorted before they are summed
        self.batches = in_batches(q, levels) if BY_LANES in self.groups else None
        # Kernels of long lists are compiled for one type of levels.
        self.levels = levels if list(self.groups) == [BY_LANES] else levels.as_int32()
        self.gain = np.append(gain, 0.0)  # for lists without levels

    def __call__(self, now: Round, swap: Swap | None = None, force: Force | None = None) -> LambdaMu:
        """λ and μ of every document, new arrays; `swap` and `force` are those of this round, if it has its own."""
        swap, force = swap or self.swap, force or self.force
        groups, scores = self.groups, now.scores

        # Short lists count their ranks, and write their order only if another part reads it.
        order, is_shared, is_sorted = np.empty(scores.size, np.int32), False, False
        if now.order is not None:
            order, is_shared, is_sorted = now.order, True, bool(now.order[0] >= 0)

        # Scores too far apart are brought nearer, after they are sorted: some that differ by little may tie then.
        if force.sigma * now.spread + abs(force.center) > RATIO_RANGE:
            by_score, every = np.empty_like(order), np.ones(self.kernels.size, dtype=bool)
            over_queries(sort_queries, self.offsets, every, scores, by_score)
            scores, kernels = scores.copy(), self.kernels.copy()
            over_queries(narrow_gaps, self.offsets, force.sigma, abs(force.center), by_score, scores, kernels)
            groups = group_by_kernel(kernels)
            if not is_sorted:
                order[:], is_sorted = by_score, True

        if not is_sorted and list(groups) != [BY_LANES]:
            over_queries(sort_queries, self.offsets, self.long, scores, order)
        out = np.empty((2, scores.size), np.float32)
        for which, selected in groups.items():
            if which == BY_LANES and self.batches is not None:
                over_queries(
                    sum_by_lanes, self.batches.documents, self.batches, self.offsets, selected, order, is_sorted,
                    is_shared, scores, self.levels.first, self.gain, self.factor, swap, force, out,
                )  # fmt: skip
            else:
                over_queries(
                    LONG_LISTS[which], self.offsets, selected, order, scores, self.levels, self.gain, self.factor,
                    swap, force, out,
                )  # fmt: skip
        if force.sigma != 1:
            out[0] *= np.float32(force.sigma)
            out[1] *= np.float32(force.sigma**2)
        return out[0], out[1]


def group_by_kernel(kernels: NDArray[np.int8]) -> dict[int, NDArray[np.bool_]]:
    """Which queries each kernel sums, without kernels that sum none."""
    return {int(which): kernels == which for which in np.unique(kernels)}


def choose_kernels(q: Queries, levels: Levels, swap: Swap) -> NDArray[np.int8]:
    """The kernel of each query whose scores are near each other, (n_queries,)."""
    if swap.terms_of == PAIRS:
        return np.full(q.n_queries, BY_FLOAT64, dtype=np.int8)
    kernels = np.full(q.n_queries, BY_TILES, dtype=np.int8)
    kernels[q.sizes <= LONGEST_IN_LANES] = BY_LANES
    kernels[is_sweep_faster(q, levels, swap)] = BY_SWEEP
    return kernels


@kernel
def narrow_gaps(first, last, offsets, sigma, center, by_score, scores, kernels):
    """Narrow the gaps between the scores of lists of too wide a range to what leaves all pairs across them as they are.

    Across a gap of FLOAT32_ZERO + |c| ρ or 1 − ρ is 0. Where the range is too wide for tiles or lanes even so, the
    list's kernel becomes BY_FLOAT64. `by_score` (n_documents,) are the documents of each query by score; `center` is
    |c|.
    """
    widest = (FLOAT32_ZERO + center) / sigma
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        s, ranked = scores[a:b], by_score[a:b]
        most = ((SWEEP_RANGE if kernels[q] == BY_SWEEP else RATIO_RANGE) - center) / sigma
        if s[ranked[0]] - s[ranked[-1]] <= most:
            continue
        narrowed = 0.0
        for r in range(1, s.size):
            narrowed += min(s[ranked[r - 1]] - s[ranked[r]], widest)
        if narrowed > most and kernels[q] in (BY_LANES, BY_TILES):
            kernels[q] = BY_FLOAT64
            continue
        # From here on the highest score is 0.
        above, below = s[ranked[0]], 0.0
        for r in range(s.size):
            here = s[ranked[r]]
            below += min(above - here, widest)
            s[ranked[r]], above = -below, here
