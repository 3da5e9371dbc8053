"""Short lists ranked side by side, one query a vector lane.

Sorting a list of ten documents is a chain of comparisons that the processor cannot foresee. Here LANES lists of about
the same length stand side by side, and each comparison of two positions runs over a row of lanes:

    position 0   d d d d d d …
    position 1   d d d d d d …
    position 2   d d d d d - …   - pads a shorter list
                 lane = query

The rank of a document is counted: the documents that score higher, and of equal ones the earlier. Below about
LONGEST_IN_LANES documents that is cheaper than sorting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined
from lambdaboost.datasets import Queries

LANES = 64  # queries of a batch: enough to hide what a row of lanes costs to begin
# Documents of a list. Beyond about 64 sorting is faster than counting, and tiles are faster for sums over pairs: λ of
# `LambdaRank()` in lanes takes .6 of the time of tiles at 41 documents, .75 at 48, .9 at 64.
LONGEST_IN_LANES = 64


class Lanes(NamedTuple):
    """Batches of up to LANES short lists of about the same length."""

    documents: NDArray[np.int64]  # (n_batches + 1,) how many there are in the batches before each
    first: NDArray[np.int64]  # (n_batches + 1,) the rows of batch b are first[b]:first[b + 1], one a position
    query: NDArray[np.int32]  # (n_batches, LANES) the query of each lane, -1 where there is none


def in_lanes(q: Queries) -> Lanes:
    """All lists of up to LONGEST_IN_LANES documents in batches by length; cached in `q`.

    >>> lanes = in_lanes(Queries(np.zeros(76), sizes=[3, 70, 1, 2]))
    >>> lanes.query[0, :4], lanes.first, lanes.documents
    (array([ 2,  3,  0, -1], dtype=int32), array([0, 3]), array([0, 6]))
    """

    def build() -> Lanes:
        short = np.flatnonzero(q.sizes <= LONGEST_IN_LANES)
        # Bytes, which are sorted by counting.
        short = short[np.argsort(q.sizes[short].astype(np.uint8), kind="stable")]
        n_batches = -(-short.size // LANES)
        query = np.full((n_batches, LANES), -1, dtype=np.int32)
        query.ravel()[: short.size] = short
        size = np.zeros((n_batches, LANES), dtype=np.int64)
        size.ravel()[: short.size] = q.sizes[short]
        first = np.append(0, np.cumsum(size.max(axis=1)))
        return Lanes(np.append(0, np.cumsum(size.sum(axis=1))), first, query)

    lanes: Lanes = q.memo("in lanes", build)
    return lanes


@inlined
def to_lanes(query, n, values, offsets, padding, rows):
    """Write the values of each document to its place, `padding` where there is none."""
    for lane in range(LANES):
        q = query[lane]
        a, b = (offsets[q], offsets[q + 1]) if q >= 0 else (0, 0)
        here = values[a:b]
        for p in range(here.size):
            rows[p * LANES + lane] = here[p]
        for p in range(here.size, n):
            rows[p * LANES + lane] = padding


@inlined
def count_ranks(n, s, rank):
    """The rank of every position, from 0: the documents that score higher, and of equal ones the earlier.

    Padding of −inf ranks last.
    """
    for p in range(n):
        rank_p = rank[p * LANES : (p + 1) * LANES]
        for lane in range(LANES):
            rank_p[lane] = p
    if _in_order(n, s):
        return
    for p in range(n):
        s_p, rank_p = s[p * LANES : (p + 1) * LANES], rank[p * LANES : (p + 1) * LANES]
        for r in range(p + 1, n):
            s_r, rank_r = s[r * LANES : (r + 1) * LANES], rank[r * LANES : (r + 1) * LANES]
            for lane in range(LANES):
                later_first = np.int32(s_r[lane] > s_p[lane])
                rank_p[lane] += later_first
                rank_r[lane] -= later_first


@inlined
def _in_order(n, s):
    """Whether every list is in its order already, as in the first round of a training, where all scores tie."""
    later_higher = 0
    for at in range(LANES, n * LANES):
        later_higher += s[at] > s[at - LANES]
    return later_higher == 0
