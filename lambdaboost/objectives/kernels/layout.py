"""A query level by level: what its pairs read of each document, where, and the memory for it.

The documents of a query stand level by level (`levels`), in a level by rank, so that the partners of a document are one
contiguous run and the rows of one level share it:

    slot    0 1 2 | 3 4 | 5 6 7 8 | padding     three levels, best first; by rank within each
    rows    0 1 2                               the documents of one level meet
    columns         3 4   5 6 7 8               all of the worse levels at once
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import inlined, uncounted
from lambdaboost.objectives.kernels.pair_factors import factors_of, is_factored
from lambdaboost.objectives.kernels.pair_weight import has_h
from lambdaboost.objectives.kernels.span import is_wide
from lambdaboost.objectives.kernels.tiles import LANES, Columns, Side, empty_columns


class Query(NamedTuple):
    """The documents first:last of one query by score, and what its ranking contributes to the swaps."""

    first: Any
    last: Any
    by_rank: Any  # (n,) the document at each rank, counted within the query
    d: Any  # by rank
    h: Any  # by rank
    cutoff: Any  # two documents past this rank have nothing to swap for


class QueryLevels(NamedTuple):
    """The levels of one query, as in `Levels`, and where each passes the cutoff."""

    start: Any
    end: Any
    run_end: Any
    cutoff_end: Any
    row: Any


class Slots(NamedTuple):
    """A query in its slots; rows and columns share their sums, and E too unless the loss has a center."""

    rows: Side
    columns: Side


class AboveCutoff(NamedTuple):
    """The documents above the cutoff once more, together."""

    first: Any  # where each level starts here
    side: Side


class Scratch(NamedTuple):
    """Memory that the queries of a block use one after the other: by rank, by document, by level, by slot."""

    ranked: Any  # scores
    place: Any
    next_place: Any
    cutoff_end: Any
    s: Any
    shifted_e: Any  # of rows, where the loss has a center
    shifted_k: Any
    side: Side
    above_cutoff: AboveCutoff
    d_of_rank: Any
    h_of_rank: Any


@uncounted
def places_by_rank(by_rank, level_of, cutoff, levels, next_place, place):
    """Write the slot of each document to `place`, in its level by rank, and where each level meets the cutoff."""
    start, cutoff_end = levels.start, levels.cutoff_end
    for level in range(start.size):
        next_place[level] = cutoff_end[level] = start[level]
    for rank in range(by_rank.size):
        level = level_of[by_rank[rank]]
        place[by_rank[rank]] = -1
        if level >= 0:
            slot = next_place[level]
            place[by_rank[rank]] = slot
            next_place[level] = slot + 1
            if rank < cutoff:
                cutoff_end[level] = slot + 1


@uncounted
def lay_out(rule, query, gains, levels, place, work):
    """Bring the scores, and what pairs read of each document besides E, to its slot."""
    _, _, g, rest, d, h, up, down = work.side.read
    ranked, s = work.ranked, work.s
    by_rank, d_of_rank, h_of_rank = query.by_rank, query.d, query.h
    for level in range(levels.start.size):
        g_here, rest_here = gains[0][levels.row[level]], gains[1][levels.row[level]]
        for slot in range(levels.start[level], levels.end[level]):
            g[slot], rest[slot] = g_here, rest_here
    for rank in range(by_rank.size):
        slot = place[by_rank[rank]]
        if slot >= 0:
            s[slot], d[slot] = ranked[rank], d_of_rank[rank]
            if has_h(rule.swap):
                h[slot] = h_of_rank[rank]
            if is_factored(rule.factors):
                up[slot], down[slot] = factors_of(rule.factors, query.first + by_rank[rank])


@inlined
def _side(rule, n):
    return Side(
        empty_columns(rule, n),
        (np.empty(n, np.float32), np.empty(n, np.float32)),
        (np.empty(n), np.empty(n)),
        np.int64(0),
    )


@inlined
def scratch_memory(rule, truncated, longest, most_levels):
    """Scratch for queries of at most `longest` documents and `most_levels` levels.

    The documents above a cutoff stand together once more. A swap says for each query where its cutoff is, so there
    is space for a whole query, as all else: memory that is never written costs nothing. What padding reads is 0 at
    first, then left by another query: finite, and times E = 0.
    """
    n = longest + 2 * LANES
    shifted_e, side = np.empty(n, np.float32), _side(rule, n)
    return Scratch(
        np.empty(longest),
        np.empty(longest, np.int32),
        np.empty(most_levels, np.int32),
        np.empty(most_levels, np.int32),
        np.empty(n),
        shifted_e,
        np.empty(n, np.float32) if is_wide(rule.span) else shifted_e,
        side,
        AboveCutoff(np.empty(most_levels + 1, np.int32), _side(rule, n) if truncated else side),
        np.empty(longest, np.float32),
        np.empty(longest, np.float32),
    )


@uncounted
def slots_of(work, center, size):
    """The query in this memory as rows and as columns."""
    read, sums, totals, _ = work.side
    rows = read
    if center != 0:
        rows = Columns(
            work.shifted_e, work.shifted_k, read.gain, read.rest, read.d, read.h, read.up, read.down
        )
    return Slots(Side(rows, sums, totals, size), Side(read, sums, totals, size))
