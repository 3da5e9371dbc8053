"""The λ and μ of all queries by pairs: from documents to tiles and back.

The documents of a query stand level by level (`_levels`), in a level by rank, so that the partners of a document are
one contiguous run and the rows of one level share it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.objectives._exp import exp_minus
from lambdaboost.objectives._levels import Levels
from lambdaboost.objectives._order import order_by_score
from lambdaboost.objectives._tiles import (
    CHUNK,
    LANES,
    NOTHING,
    ONE,
    RANGE,
    Dcg,
    curvature_of,
    force_of,
    gap,
    rows_by_columns,
    run_stop,
    step,
)
from lambdaboost.objectives._tree import lists_by_tree, worth_a_tree


@kernel
def _above_cutoff(swap, force, start, end, run_end, top_end, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
    """Pairs whose better document stands above the cutoff; without a cutoff all pairs."""
    for level in range(start.size):
        lo, hi = end[level], run_end[level]
        if lo < hi and start[level] < top_end[level]:
            stop = run_stop(lo, hi, end[-1])
            rows_by_columns(
                swap, force, start[level], top_end[level], rows, lo, stop, columns, sums, sums, parts
            )


@kernel
def _below_cutoff(swap, force, start, end, run_end, top_end, rows, columns, sums, parts):  # type: ignore[no-untyped-def]
    """Pairs whose worse document alone stands above the cutoff; two documents below it have nothing to swap for."""
    e, g, d = columns
    lam, mu = sums
    n_levels = start.size
    first = np.zeros(n_levels + 1, np.int64)  # of each level among the documents above the cutoff
    for level in range(n_levels):
        first[level + 1] = first[level] + top_end[level] - start[level]
    room = first[n_levels] + LANES
    top_e, top_g, top_d = np.zeros(room, np.float32), np.zeros(room, np.float32), np.zeros(room, np.float32)
    top_lam, top_mu = np.zeros(room, np.float64), np.zeros(room, np.float64)
    for level in range(n_levels):
        here, there = slice(first[level], first[level + 1]), slice(start[level], top_end[level])
        top_e[here], top_g[here], top_d[here] = e[there], g[there], d[there]
    for level in range(n_levels):
        lo, hi = first[level + 1], first[np.searchsorted(start, run_end[level])]
        if lo < hi and top_end[level] < end[level]:
            rows_by_columns(
                swap, force, top_end[level], end[level], rows, lo, run_stop(lo, hi, first[n_levels]),
                (top_e, top_g, top_d), sums, (top_lam, top_mu), parts,
            )  # fmt: skip
    for level in range(n_levels):
        here, there = slice(first[level], first[level + 1]), slice(start[level], top_end[level])
        lam[there] += top_lam[here]
        mu[there] += top_mu[here]


@kernel
def _wide_pairs(swap, force, start, end, run_end, sigma, center, s, g, d, lam, mu):  # type: ignore[no-untyped-def]
    """All pairs of scores too far apart for E: one exponential a pair, all in float64."""
    for level in range(start.size):
        for i in range(start[level], end[level]):
            for j in range(end[level], run_end[level]):
                apart = sigma * (s[i] - s[j]) + center
                if apart > NOTHING:
                    continue
                rho = rest = 1.0
                if apart < -NOTHING:
                    rest = 0.0
                else:
                    rho, rest = 1.0 / (1.0 + math.exp(apart)), 1.0 / (1.0 + math.exp(-apart))
                w = np.float64(gap(swap, g[i], g[j])) * np.float64(step(swap, d[i], d[j]))
                f = force_of(force, w, rho, rest)
                c = curvature_of(force, w, rho, rest)
                lam[i] += f
                lam[j] -= f
                mu[i] += c
                mu[j] += c


@kernel
def _lay_out(here, gains, level_of, by_rank, discounts, cutoff, next_slot, top_end, document, s, g, d):  # type: ignore[no-untyped-def]
    """Put the documents of a query level by level, inside a level by rank; returns how many stand in a level."""
    m = 0
    for rank in range(by_rank.size):
        i = by_rank[rank]
        level = level_of[i]
        if level >= 0:
            slot = next_slot[level]
            next_slot[level] = slot + 1
            if rank < cutoff:
                top_end[level] = slot + 1
            document[slot], s[slot], g[slot], d[slot] = i, here[i], gains[i], discounts[rank]
            m += 1
    return m


@kernel
def _block_of_queries(  # type: ignore[no-untyped-def]
    q0, q1, offsets, swap, force, sigma, center, cutoff,
    scores, gains, discounts, levels, by_tree, hint, order, out_lam, out_mu,
):  # fmt: skip
    """λ and μ of queries q0:q1, one query after the other through the same scratch memory."""
    level_of, level_first, level_start, level_end, level_run_end = levels
    longest = most_levels = 0
    for q in range(q0, q1):
        longest = max(longest, offsets[q + 1] - offsets[q])
        most_levels = max(most_levels, level_first[q + 1] - level_first[q])
    room = longest + 2 * LANES
    e, g, d = np.empty(room, np.float32), np.empty(room, np.float32), np.empty(room, np.float32)
    s, lam, mu = np.empty(room, np.float64), np.empty(room, np.float64), np.empty(room, np.float64)
    parts = np.empty(min(room, CHUNK), np.float32), np.empty(min(room, CHUNK), np.float32)
    document = np.empty(room, np.int32)
    next_slots, top_ends = np.empty(most_levels, np.int32), np.empty(most_levels, np.int32)
    shift = np.float32(math.exp(center))

    for q in range(q0, q1):
        a, b = offsets[q], offsets[q + 1]
        here, by_rank = scores[a:b], order[a:b]
        order_by_score(here, hint[a:b], by_rank)
        la, lb = level_first[q], level_first[q + 1]
        if by_tree[q] or lb - la < 2:
            continue
        start, end, run_end = level_start[la:lb], level_end[la:lb], level_run_end[la:lb]
        next_slot, top_end = next_slots[: lb - la], top_ends[: lb - la]
        next_slot[:] = start
        top_end[:] = start
        m = _lay_out(
            here, gains[a:b], level_of[a:b], by_rank, discounts, cutoff, next_slot, top_end, document, s, g, d
        )
        lam[: m + LANES] = 0
        mu[: m + LANES] = 0
        best = here[by_rank[0]]
        if sigma * (best - here[by_rank[-1]]) + abs(center) > RANGE:
            _wide_pairs(swap, force, start, end, run_end, sigma, center, s, g, d, lam, mu)
        else:
            for slot in range(m):
                e[slot] = exp_minus(sigma * (best - s[slot]))
            e[m : m + LANES] = 0
            g[m : m + LANES] = 0
            d[m : m + LANES] = 0
            rows, columns = (e * shift if shift != ONE else e, g, d), (e, g, d)
            _above_cutoff(swap, force, start, end, run_end, top_end, rows, columns, (lam, mu), parts)
            if cutoff < b - a:
                _below_cutoff(swap, force, start, end, run_end, top_end, rows, columns, (lam, mu), parts)
        for slot in range(m):
            out_lam[a + document[slot]] = lam[slot]
            out_mu[a + document[slot]] = mu[slot]


def pair_gradient(
    scores: NDArray[np.float64],
    q: Queries,
    levels: Levels,
    swap: Any,
    force: Any,
    gains: NDArray[np.float32],
    discounts: NDArray[np.float32],
    cutoff: int,
    sigma: float = 1.0,
    center: float = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """λ and μ of every document, for σ = 1 in the factors σ and σ², as float64 (n_documents,)."""
    lam = np.zeros(q.n_documents)
    mu = np.zeros(q.n_documents)
    last = q.memo("order", lambda: [np.zeros(0, dtype=np.int32)])
    hint = last[0] if last[0].size else _identity(q)
    order = np.empty(q.n_documents, dtype=np.int32)
    by_tree = worth_a_tree(q, levels, cutoff)
    over_queries(
        _block_of_queries, q.offsets, swap, force, sigma, center, cutoff,
        scores, gains, discounts, levels, by_tree, hint, order, lam, mu,
    )  # fmt: skip
    if by_tree.any():
        queries = np.flatnonzero(by_tree)
        over_queries(
            lists_by_tree, np.append(0, np.cumsum(q.sizes[queries])), queries, q.offsets, swap, force,
            isinstance(swap, Dcg), sigma, center,
            scores, gains, discounts, levels.of_document, order, lam, mu,
        )  # fmt: skip
    last[0] = order  # whole arrays change hands, so that another thread's training never sees half an order
    return lam, mu


def _identity(q: Queries) -> NDArray[np.int32]:
    return (np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)).astype(np.int32)
