"""The pairs of different label that a ranking has in the right order.

Lists that are short enough for lanes are counted pair by pair. In longer ones a binary indexed tree (Fenwick 1994)
over the levels of the labels holds the documents that rank above the current one, so that it takes n log n steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.lanes import LANES, LONGEST_COUNTED, in_lanes, to_lanes
from lambdaboost.evaluation.rankings import longest, ranking, sort_by_score


class LabelLevels(NamedTuple):
    """The distinct labels of each query, from the highest."""

    of_document: NDArray[np.float64]  # (n_documents,) 1 for the highest label; 0 where it is missing
    n: NDArray[np.int64]  # (n_queries,) how many levels there are
    n_pairs: NDArray[np.float64]  # (n_queries,) the number of pairs of different level


def levels(q: Queries, source: str) -> LabelLevels:
    """The levels of a label source; cached in `q`."""

    def find() -> LabelLevels:
        # The labels of each query in descending order, missing ones last.
        labels, starts = q.source(source, allow_negative=True), q.offsets[:-1]
        key = np.where(np.isnan(labels), -np.inf, labels.astype(np.float64))
        rows = np.repeat(starts, q.sizes) + ranking(key, q.offsets)
        in_order, known = labels[rows], ~np.isnan(labels[rows])

        # A level begins where the label is another than the one before.
        begins = known & (in_order != np.roll(in_order, 1))
        begins[starts] = known[starts]
        n, of_document = np.add.reduceat(begins, starts, dtype=np.int64), np.zeros(q.n_documents)
        level = np.cumsum(begins) - np.repeat(np.cumsum(n) - n, q.sizes)
        of_document[rows[known]] = level[known]

        # Of the n² ordered pairs of documents with a label, those that tie are left out.
        tied = np.bincount(np.cumsum(begins)[known] - 1).astype(np.float64)
        n_tied = np.bincount(q.query_of_row[begins], tied * tied, minlength=q.n_queries)
        n_known = np.add.reduceat(known, starts, dtype=np.float64)
        return LabelLevels(of_document, n, (n_known**2 - n_tied) / 2)

    return q.memo(("label levels", source), find)


def share_of_pairs(scores: NDArray[np.float64], q: Queries, source: str) -> NDArray[np.float64]:
    """The share of pairs of different label in the right order; NaN if there is none."""
    wrong, lanes, level = np.empty(q.n_queries), in_lanes(q), levels(q, source)
    if lanes.query.size:
        labels = q.source(source, allow_negative=True)
        over_queries(_wrong_in_lanes, lanes.documents, q.offsets, lanes, scores, labels, wrong)
    if lanes.documents[-1] < q.n_documents:
        in_order = sort_by_score(level.of_document, scores, q)
        over_queries(_wrong_by_tree, q.offsets, in_order, level.n, wrong)
    pairs = level.n_pairs
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
    s, label = np.empty(LONGEST_COUNTED * LANES), np.empty(LONGEST_COUNTED * LANES, np.float32)
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
def _wrong_by_tree(first, last, offsets, ranked, n_levels, out):
    """Lists that are too long for lanes.

    `above` is the tree: its sum up to a level counts the documents above of that level or a better one.
    """
    above = np.empty(longest(first, last, offsets) + 1, np.int32)
    for q in range(first, last):
        if offsets[q + 1] - offsets[q] <= LONGEST_COUNTED:
            continue
        for level in range(n_levels[q] + 1):
            above[level] = 0
        wrong, n = 0, 0
        for figure in ranked[offsets[q] : offsets[q + 1]]:
            level = np.int64(figure)
            if level == 0:
                continue
            # The documents above of a worse level are those that are not in the sum.
            at, no_worse = level, 0
            while at > 0:
                no_worse += above[at]
                at &= at - 1
            wrong += n - no_worse
            n += 1
            while level <= n_levels[q]:
                above[level] += 1
                level += level & -level
        out[q] = wrong
