"""λ and μ of all queries by pairs: short lists in lanes, very long ones by the tree, all others in tiles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.ranking import sort_queries
from lambdaboost.objectives.kernels.layout import Query, scratch_memory
from lambdaboost.objectives.kernels.level_pairs import Truncated, Whole, is_truncated
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import Loss
from lambdaboost.objectives.kernels.pair_weight import (
    Dcg,
    PairWeights,
    TwoFloatDcg,
    Unit,
    by_levels,
    of_differences,
    rank_terms,
)
from lambdaboost.objectives.kernels.precision import by_precision, every_query
from lambdaboost.objectives.kernels.query import one_query
from lambdaboost.objectives.kernels.short_lists import Results, in_batches, lists_in_lanes
from lambdaboost.objectives.kernels.span import RANGE, Narrow, Wide, is_wide
from lambdaboost.objectives.kernels.tiles import Rule
from lambdaboost.objectives.kernels.tree import LEVELS, LEVELS_OF_TERMS, lists_by_tree, worth_a_tree

Figures = NDArray[np.float32]
Mask = NDArray[np.bool_]


class Ways(NamedTuple):
    """Masks (n_queries,) of the way that each query goes."""

    skipped: Mask
    by_tree: Mask  # no tiles, but whether their scores are `far`
    far: Mask  # scores too far apart for a `Narrow` span: written by kernels of one, which leave these queries out


@kernel
def _block_of_queries(q0, q1, offsets, pairs, levels, scores, order, ways, out):
    """λ and μ of queries q0:q1, one after the other in the same scratch memory.

    `pairs` are the weights, the loss, the span and the reach.
    """
    weights, loss, span, reach = pairs
    swap, gains, discounts, cutoff = weights
    rule = Rule(swap, loss.force, span, loss.sigma, loss.center)
    level_of, slot_of, level_first, level_start, level_end, level_run_end, level_row = levels
    longest = most_levels = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
        most_levels = max(most_levels, level_first[q + 1] - level_first[q])
    work = scratch_memory(rule, is_truncated(reach), longest, most_levels)
    for q in range(q0, q1):
        if ways.skipped[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        here, by_rank, ranked = scores[a:b], order[a:b], work.ranked[: b - a]
        for r in range(b - a):
            ranked[r] = here[by_rank[r]]
        if not is_wide(span):
            ways.far[q] = loss.sigma * (ranked[0] - ranked[b - a - 1]) + abs(loss.center) > RANGE
        la, lb = level_first[q], level_first[q + 1]
        if ways.by_tree[q]:
            continue
        if lb - la < 2:
            for i in range(a, b):
                out[0][i] = out[1][i] = 0
            continue
        if not is_wide(span) and ways.far[q]:
            continue
        d_of_rank, h_of_rank, last_rank = rank_terms(
            swap,
            a,
            gains[0][a:b],
            by_rank,
            discounts,
            cutoff,
            work.d_of_rank[: b - a],
            work.h_of_rank[: b - a],
        )
        one_query(
            rule,
            reach,
            Query(a, b, by_rank, d_of_rank, h_of_rank, last_rank),
            (level_of, slot_of),
            (level_start[la:lb], level_end[la:lb], level_run_end[la:lb], level_row[la:lb]),
            gains, work, out,
        )  # fmt: skip


def pair_gradient(
    scores: NDArray[np.float64],
    q: Queries,
    levels: Levels,
    weights: PairWeights,
    loss: Loss,
    order: NDArray[np.int32] | None = None,
    drops_to_0: bool = True,
) -> tuple[Figures, Figures]:
    """λ and μ of every document, for σ = 1 in the factors σ and σ², as float32 (n_documents,).

    Pairs of two documents past the cutoff do not count. Say where discounts do not drop to 0 there. What another call
    over the same scores is to share as `order`, the documents of each query by score, is filled by the first: its
    first figure is -1 until then.
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
    if drops_to_0 and (isinstance(swap, Unit | Dcg) or by_levels(swap) or of_differences(swap)):
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
                over_queries(_block_of_queries, q.offsets, narrow, levels, scores, order, ways, out)
            skipped = skipped | ~far | by_tree
            if not skipped.all():
                ways = Ways(skipped, by_tree, far)
                wide = of, loss, Wide(), reach
                over_queries(_block_of_queries, q.offsets, wide, levels, scores, order, ways, out)
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
