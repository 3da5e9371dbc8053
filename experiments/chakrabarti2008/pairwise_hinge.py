"""The pairwise hinge: RankSVM."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
from numpy.typing import NDArray

from experiments.chakrabarti2008.hinge import Hinge, Violators
from lambdaboost._jit import FASTMATH, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.rankings import ranking
from lambdaboost.objectives.objective import Floats, Needs

# In Numba's own cache, which checks this file alone: a kernel here calls none of another file.
kernel = numba.njit(cache=True, error_model="numpy", nogil=True, fastmath=set(FASTMATH))


class PairwiseHinge(Hinge, registered=False):
    r"""The hinge of all pairs of different grades: RankSVM (Herbrich et al. 1999; Joachims 2002, 2006).

    .. math:: \xi = \sum_{l_i > l_j} \max(0, 1 - (s_i - s_j))

    of a query: each pair within the margin pulls its documents apart with force 1. O(n log n) for any number of grades,
    by sorting and counting. hess is the number of pairs of the document, so that a leaf's step is a mean force.
    Documents without a label are in no pair.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> PairwiseHinge().gradient([0.0, 0.5, 2.0], Queries([0, 1, 2], sizes=[3]))
    (array([ 1., -1.,  0.], dtype=float32), array([2., 2., 2.], dtype=float32))

    """

    @property
    def needs(self) -> Needs:
        """Grades; ties count alike."""
        return replace(super().needs, ties_by_row=False)

    def violators(self, scores: Floats, q: Queries) -> Violators:
        """How many pairs of each query are within the margin, and the sum of their pulls."""
        loss, direction = np.zeros(q.n_queries), np.zeros(q.n_documents)
        over_queries(_queries, q.offsets, ranking(scores, q.offsets), scores, _grades(q), loss, direction)
        return Violators(loss, direction)

    def curvature(self, q: Queries) -> Floats:
        """The number of each document's pairs."""
        return q.memo("pairs of each document", lambda: _count_pairs(q))

    def counted(self, q: Queries) -> NDArray[np.bool_]:
        """Which queries have pairs, bool (n_queries,)."""
        return np.maximum.reduceat(self.curvature(q), q.offsets[:-1]) > 0


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


def _count_pairs(q: Queries) -> Floats:
    """Labelled documents of the query less those of the same grade, 0 for a document without a label."""
    grade = _grades(q)
    key = q.query_of_row * (grade.max() + 1) + grade
    _, place, count = np.unique(key, return_inverse=True, return_counts=True)
    of_query = np.repeat(np.add.reduceat(grade > 0, q.offsets[:-1], dtype=float), q.sizes)
    return np.where(grade > 0, of_query - count[place], 0.0)


@kernel
def _add(tree, grade):
    while grade < tree.size:
        tree[grade] += 1
        grade += grade & -grade


@kernel
def _up_to(tree, grade):
    n = 0
    while grade > 0:
        n += tree[grade]
        grade -= grade & -grade
    return n


@kernel
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
def _queries(first, last, offsets, order, scores, grade, loss, direction):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        loss[q] = _query(order[a:b], scores[a:b], grade[a:b], direction[a:b])
