"""The pairs within the margin of the pairwise hinge, found for any number of grades in O(n log n).

Documents in order of score; for each one, the worse documents that score more than its own score less 1 are counted by
grade in a Fenwick tree, whose sums up to a grade take O(log grades) each. The same from below for the better ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.ranking import ranking
from lambdaboost.objectives.inference.violators import Violators


def pair_violators(scores: NDArray[np.float64], q: Queries) -> Violators:
    """How many pairs of each query are within the margin, and the sum of their pulls."""
    loss, direction = np.zeros(q.n_queries), np.zeros(q.n_documents)
    over_queries(_block, q.offsets, ranking(scores, q.offsets), scores, _grades(q), loss, direction)
    return Violators(loss, direction)


def pairs_of_documents(q: Queries) -> NDArray[np.float64]:
    """In how many pairs of different grades each document is, float64 (n_documents,); kept with `q`."""
    return q.memo("pairs of each document", lambda: _count_pairs(q))


def _grades(q: Queries) -> NDArray[np.int64]:
    """Each document's grade by its place among those of its query, from 1; 0 without a label."""
    return q.memo("places of grades", lambda: _places(q))


def _places(q: Queries) -> NDArray[np.int64]:
    labelled = np.flatnonzero(~np.isnan(q.relevance))
    grade = np.zeros(q.n_documents, dtype=np.int64)
    values, of_all = np.unique(q.relevance[labelled], return_inverse=True)
    key = q.query_of_row[labelled] * values.size + of_all
    keys, place = np.unique(key, return_inverse=True)
    lowest = np.searchsorted(keys, np.arange(q.n_queries) * values.size)
    grade[labelled] = 1 + place - lowest[q.query_of_row[labelled]]
    return grade


def _count_pairs(q: Queries) -> NDArray[np.float64]:
    """Labelled documents of the query less those of the same grade, 0 for a document without a label."""
    grade = _grades(q)
    key = q.query_of_row * (grade.max() + 1) + grade
    _, place, count = np.unique(key, return_inverse=True, return_counts=True)
    of_query = np.repeat(np.add.reduceat(grade > 0, q.offsets[:-1], dtype=float), q.sizes)
    return np.where(grade > 0, of_query - count[place], 0.0)


@inlined
def _add(tree, grade):
    while grade < tree.size:
        tree[grade] += 1
        grade += grade & -grade


@inlined
def _up_to(tree, grade):
    n = 0
    while grade > 0:
        n += tree[grade]
        grade -= grade & -grade
    return n


@inlined
def _query(order, scores, grade, direction):
    n, active, n_grades = order.size, 0, 0
    for i in range(n):
        n_grades = max(n_grades, grade[i])
    worse = np.zeros(n_grades + 1, dtype=np.int64)  # documents scored above this one less 1
    at = 0
    for r in range(n):
        i = order[r]
        while at < n and scores[order[at]] + 1.0 > scores[i]:
            if grade[order[at]] > 0:
                _add(worse, grade[order[at]])
            at += 1
        if grade[i] > 0:
            pulls = _up_to(worse, grade[i] - 1)
            direction[i] -= pulls
            active += pulls
    better = np.zeros(n_grades + 1, dtype=np.int64)  # documents scored below this one plus 1
    at, seen = n - 1, 0
    for r in range(n - 1, -1, -1):
        j = order[r]
        while at >= 0 and scores[j] + 1.0 > scores[order[at]]:
            if grade[order[at]] > 0:
                _add(better, grade[order[at]])
                seen += 1
            at -= 1
        if grade[j] > 0:
            direction[j] += seen - _up_to(better, grade[j])
    return active


@kernel
def _block(first, last, offsets, order, scores, grade, loss, direction):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        loss[q] = _query(order[a:b], scores[a:b], grade[a:b], direction[a:b])
