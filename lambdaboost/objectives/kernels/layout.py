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

from lambdaboost._jit import by_type, inlined, uncounted
from lambdaboost.evaluation._order import order_scratch
from lambdaboost.objectives.kernels.pair_weight import has_h
from lambdaboost.objectives.kernels.tiles import LANES


class Rule(NamedTuple):
    """What weighs a pair and how hard it is pushed, without what documents contribute."""

    swap: Any
    force: Any
    sigma: float
    center: float


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
    top_end: Any
    row: Any


class Slots(NamedTuple):
    """A query in its slots: scores, what rows and columns of tiles read, and λ and μ so far."""

    s: Any
    rows: Any
    columns: Any
    sums: Any  # float32, for as long as they stay short
    totals: Any  # float64, to which the sums are carried


class Top(NamedTuple):
    """The documents above the cutoff once more, together."""

    first: Any  # where each level starts here
    columns: Any
    sums: Any
    totals: Any


def columns_of(swap: Any, e: Any, g: Any, rest: Any, d: Any, h: Any) -> Any:
    """What the tiles read of each slot, without h where the swap has none."""
    return (e, g, rest, d, h) if type(swap).traits.has_h else (e, g, rest, d)


@by_type(columns_of)
def _columns_of(swap, e, g, rest, d, h):
    if swap.instance_class.traits.has_h:
        return lambda swap, e, g, rest, d, h: (e, g, rest, d, h)
    return lambda swap, e, g, rest, d, h: (e, g, rest, d)


@uncounted
def places_by_rank(by_rank, level_of, cutoff, start, next_place, top_end, place):
    """Write the slot of each document to `place`, in its level by rank, and where each level meets the cutoff."""
    for level in range(start.size):
        next_place[level] = top_end[level] = start[level]
    for rank in range(by_rank.size):
        level = level_of[by_rank[rank]]
        place[by_rank[rank]] = -1
        if level >= 0:
            slot = next_place[level]
            place[by_rank[rank]] = slot
            next_place[level] = slot + 1
            if rank < cutoff:
                top_end[level] = slot + 1


@uncounted
def lay_out(swap, query, ranked, gains, levels, place, slots):
    """Bring what the pairs read of each document to its slot."""
    columns, s = slots.columns, slots.s
    g, rest, d, h = columns[1], columns[2], columns[3], columns[-1]
    by_rank, d_of_rank, h_of_rank = query.by_rank, query.d, query.h
    for level in range(levels.start.size):
        g_here, rest_here = gains[0][levels.row[level]], gains[1][levels.row[level]]
        for slot in range(levels.start[level], levels.end[level]):
            g[slot], rest[slot] = g_here, rest_here
    for rank in range(by_rank.size):
        slot = place[by_rank[rank]]
        if slot >= 0:
            s[slot], d[slot] = ranked[rank], d_of_rank[rank]
            if has_h(swap):
                h[slot] = h_of_rank[rank]


class Scratch(NamedTuple):
    """Memory that the queries of a block use one after the other: by rank, by document, by level, by slot."""

    to_order: Any
    place: Any
    next_place: Any
    top_end: Any
    s: Any
    shifted: Any
    columns: Any
    sums: Any
    totals: Any
    top: Top
    d_of_rank: Any
    h_of_rank: Any


@inlined
def scratch_memory(swap, longest, most_levels):
    """Scratch for queries of up to so many documents and levels.

    The documents above a cutoff stand in the top once more. A swap says for each query where its cutoff is, so the top
    has space for a whole query, as all else: memory that is never written costs nothing. What padding reads is 0 at
    first, then left by another query: finite, and times E = 0.
    """
    room = longest + 2 * LANES
    d, top_d = np.zeros(room, np.float32), np.zeros(room, np.float32)
    h = np.zeros(room, np.float32) if has_h(swap) else d
    top_h = np.zeros(room, np.float32) if has_h(swap) else top_d
    return Scratch(
        order_scratch(longest),
        np.empty(longest, np.int32),
        np.empty(most_levels, np.int32),
        np.empty(most_levels, np.int32),
        np.empty(room),
        np.empty(room, np.float32),
        columns_of(
            swap, np.zeros(room, np.float32), np.zeros(room, np.float32), np.zeros(room, np.float32), d, h
        ),
        (np.empty(room, np.float32), np.empty(room, np.float32)),
        (np.empty(room), np.empty(room)),
        Top(
            np.empty(most_levels + 1, np.int32),
            columns_of(
                swap,
                np.zeros(room, np.float32),
                np.zeros(room, np.float32),
                np.zeros(room, np.float32),
                top_d,
                top_h,
            ),
            (np.empty(room, np.float32), np.empty(room, np.float32)),
            (np.empty(room), np.empty(room)),
        ),
        np.empty(longest, np.float32),
        np.empty(longest, np.float32),
    )
