"""The pairs of different label that a ranking has in the right order.

Lists that are short enough for lanes are counted pair by pair. In longer ones a binary indexed tree (Fenwick 1994)
over the levels of the labels holds the documents that rank above the current one, so that it takes n log n steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.lanes import LANES, LONGEST_IN_LANES, in_lanes, to_lanes
from lambdaboost.evaluation.levels import levels_of
from lambdaboost.evaluation.rankings import longest, sort_by_score


def share_of_pairs(scores: NDArray[np.float64], q: Queries, source: str) -> NDArray[np.float64]:
    """The share of pairs of different label in the right order; NaN if there is none.

    A pair of which neither document was retrieved (score −inf) is in the wrong order.
    """
    labels = q.source(source, allow_negative=True)
    # Documents that were not retrieved rank by rising label, so that each pair of them is in the wrong order.
    if scores.min() == -np.inf:
        last = np.where(np.isneginf(scores), labels, 0.0)
        order = np.lexsort((last, -scores, q.query_of_row))
        scores = np.empty(q.n_documents)
        scores[order] = -np.arange(q.n_documents)

    wrong, lanes, levels = np.empty(q.n_queries), in_lanes(q), levels_of(q, source)
    if lanes.query.size:
        over_queries(_wrong_in_lanes, lanes.documents, q.offsets, lanes, scores, labels, wrong)
    if lanes.documents[-1] < q.n_documents:
        # float64, for which `sort_by_score` is compiled already.
        in_order = sort_by_score(levels.of_document.astype(np.float64), scores, q)
        over_queries(_wrong_by_tree, q.offsets, in_order, levels.first, wrong)
    pairs = q.memo(("n pairs", source), levels.count_pairs)
    return np.divide(pairs - wrong, pairs, where=pairs > 0, out=np.full(q.n_queries, np.nan))


@inlined
def _count_wrong(n, s, label, wrong):
    """How many pairs of each lane have the document of the lower label ahead."""
    for lane in range(LANES):
        wrong[lane] = 0
    for p in range(n):
        s_p, label_p = s[p * LANES : (p + 1) * LANES], label[p * LANES : (p + 1) * LANES]
        for r in range(p + 1, n):
            s_r, label_r = s[r * LANES : (r + 1) * LANES], label[r * LANES : (r + 1) * LANES]
            for lane in range(LANES):
                later_lower = np.int32(label_r[lane] < label_p[lane])
                later_higher = np.int32(label_r[lane] > label_p[lane])
                wrong[lane] += later_lower if s_r[lane] > s_p[lane] else later_higher


@kernel
def _wrong_in_lanes(first, last, documents, offsets, lanes, scores, labels, out):
    s, label = np.empty(LONGEST_IN_LANES * LANES), np.empty(LONGEST_IN_LANES * LANES, np.float32)
    wrong = np.empty(LANES, np.int32)
    for b in range(first, last):
        n = lanes.first[b + 1] - lanes.first[b]
        to_lanes(lanes.query[b], n, scores, offsets, -np.inf, s)
        to_lanes(lanes.query[b], n, labels, offsets, np.nan, label)
        _count_wrong(n, s, label, wrong)
        for lane in range(LANES):
            if lanes.query[b, lane] >= 0:
                out[lanes.query[b, lane]] = wrong[lane]


@kernel
def _wrong_by_tree(first, last, offsets, ranked, first_level, out):
    """Lists that are too long for lanes.

    `above` is the tree: its sum up to a level counts the documents above of that level or a better one.
    """
    above = np.empty(longest(first, last, offsets) + 1, np.int32)
    for q in range(first, last):
        if offsets[q + 1] - offsets[q] <= LONGEST_IN_LANES:
            continue
        n_levels = first_level[q + 1] - first_level[q]
        for level in range(n_levels + 1):
            above[level] = 0
        wrong, n = 0, 0
        for figure in ranked[offsets[q] : offsets[q + 1]]:
            level = np.int64(figure) + 1  # from 1 for the best; 0 without a label
            if level == 0:
                continue
            # The documents above of a worse level are those that are not in the sum.
            at, no_worse = level, 0
            while at > 0:
                no_worse += above[at]
                at &= at - 1
            wrong += n - no_worse
            n += 1
            while level <= n_levels:
                above[level] += 1
                level += level & -level
        out[q] = wrong
