"""λ and μ of all queries by pairs: short lists in lanes, very long ones by the tree, all others in tiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation._order import order_documents
from lambdaboost.objectives.kernels.layout import Query, Rule, scratch_memory
from lambdaboost.objectives.kernels.levels import Levels
from lambdaboost.objectives.kernels.loss import Loss
from lambdaboost.objectives.kernels.pair_weight import (
    Dcg,
    PairWeights,
    TwoFloatDcg,
    Unit,
    by_levels,
    rank_terms,
)
from lambdaboost.objectives.kernels.precision import by_precision, every_query
from lambdaboost.objectives.kernels.query import one_query
from lambdaboost.objectives.kernels.short_lists import in_batches, lists_in_lanes
from lambdaboost.objectives.kernels.tree import lists_by_tree, worth_a_tree

Figures = NDArray[np.float32]


@kernel
def _block_of_queries(q0, q1, offsets, weights, loss, scores, levels, elsewhere, order, ordered, out):
    """λ and μ of queries q0:q1, one after the other through the same scratch memory, of those not done `elsewhere`.

    Of queries by the tree it writes the order alone.
    """
    swap, gains, discounts, cutoff = weights
    force, sigma, center = loss
    skipped, by_tree = elsewhere
    out_lam, out_mu = out
    level_of, slot_of, level_first, level_start, level_end, level_run_end, level_row = levels
    longest = most_levels = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
        most_levels = max(most_levels, level_first[q + 1] - level_first[q])
    work = scratch_memory(swap, longest, most_levels)
    for q in range(q0, q1):
        if skipped[q]:
            continue
        a, b = offsets[q], offsets[q + 1]
        here, by_rank, ranked = scores[a:b], order[a:b], work.to_order[0][: b - a]
        if ordered:
            for r in range(b - a):
                ranked[r] = here[by_rank[r]]
        else:
            order_documents(here, by_rank, work.to_order)
        la, lb = level_first[q], level_first[q + 1]
        if by_tree[q]:
            continue
        if lb - la < 2:
            for i in range(a, b):
                out_lam[i] = out_mu[i] = 0
            continue
        d_of_rank, h_of_rank, cut = rank_terms(
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
            Rule(swap, force, sigma, center),
            Query(a, b, by_rank, d_of_rank, h_of_rank, cut),
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
    done, by_tree = np.zeros(q.n_queries, dtype=bool), np.zeros(q.n_queries, dtype=bool)
    ordered = order is not None and order[0] >= 0
    of_swap = _of_swap(q, levels, weights)
    if drops_to_0 and not by_levels(swap):  # a lane knows neither a cutoff nor pairs of levels
        to_fill = np.empty(0, dtype=np.int32) if order is None or ordered else order
        for of, queries in of_swap:
            lists_in_lanes(scores, q, in_batches(q, levels, queries), of, loss, (*out, to_fill, done))
        if done.all():
            return out
    if order is None:
        order = np.empty(q.n_documents, dtype=np.int32)
    if drops_to_0 and isinstance(swap, Unit | Dcg):  # the tree takes all pairs, by their discounts
        by_tree = worth_a_tree(q, levels, weights.cutoff) & ~done
    for of, queries in of_swap:
        skipped = done | ~queries
        if not skipped.all():
            over_queries(
                _block_of_queries, q.offsets, of, loss, scores, levels, (skipped, by_tree),
                order, ordered, out,
            )  # fmt: skip
    if by_tree.any():
        trees = np.flatnonzero(by_tree)
        over_queries(
            lists_by_tree, np.append(0, np.cumsum(q.sizes[trees])), trees, q.offsets, of_swap[-1][0].swap, loss.force,
            not isinstance(swap, Unit), loss.sigma, loss.center,
            scores, weights.gains, weights.discounts, levels.of_document, order, *out,
        )  # fmt: skip
    return out


def _of_swap(q: Queries, levels: Levels, weights: PairWeights) -> list[tuple[PairWeights, NDArray[np.bool_]]]:
    """The swaps that weigh the pairs, each with its queries: by discounts, in one float32 or, where close, in two."""
    if not isinstance(weights.swap, Dcg):
        return [(weights, every_query(q)[0])]
    in_one, in_two = by_precision(q, levels, weights)
    return [(weights, in_one), (weights._replace(swap=TwoFloatDcg()), in_two)]
