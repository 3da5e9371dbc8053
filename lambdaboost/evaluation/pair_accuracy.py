"""`PairAccuracy`: the share of pairs in the right order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ranking import over_rankings


@MEASURES.add
@dataclass(frozen=True, repr=False)
class PairAccuracy(Measure):
    r"""Pairwise correct: the share of the pairs of different grade that are in the right order.

    .. math:: \frac{|\{(i, j) : l_i > l_j,\, r_i < r_j\}|}{|\{(i, j) : l_i > l_j\}|}

    with r_i the rank, so tied scores count by input order (Burges, Ragno and Le 2006, §2). Documents
    without a label are in no pair. In [0, 1]; undefined where there is no pair.

    Parameters
    ----------
    empty : float, default 0.0
        The value for a query without a pair.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> PairAccuracy().per_query([0.1, 0.3, 0.2], Queries([2, 1, 0], sizes=[3])).round(4)
    array([0.3333])

    """

    empty: float = 0.0

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of one pair, 1/N; float32 (n_documents,)."""
        return q.memo("one over pairs", lambda: _one_over_pairs(q))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return share_of_pairs(scores, q.relevance, q)


def _one_over_pairs(q: Queries) -> NDArray[np.float32]:
    """1/N of each document's query, N its pairs of different grade; 0 if N is 0."""
    pairs = n_pairs(q.relevance, q)
    one_over = np.divide(1.0, pairs, where=pairs > 0, out=np.zeros(q.n_queries))
    return np.repeat(one_over, q.sizes).astype(np.float32)


def n_pairs(labels: NDArray[np.float32], q: Queries) -> NDArray[np.float64]:
    """The number of pairs of different label in each query, float64 (n_queries,)."""
    has = ~np.isnan(labels)
    query, label = q.query_of_row[has], labels[has]
    order = np.lexsort((label, query))
    query, label = query[order], label[order]
    new = np.ones(query.size, dtype=bool)
    new[1:] = (query[1:] != query[:-1]) | (label[1:] != label[:-1])
    starts = np.flatnonzero(new)
    of_one_label = np.diff(np.append(starts, query.size)).astype(np.float64)
    n = np.bincount(query, minlength=q.n_queries).astype(np.float64)
    pairs: NDArray[np.float64] = (
        n**2 - np.bincount(query[starts], weights=of_one_label**2, minlength=q.n_queries)
    ) / 2
    return pairs


def share_of_pairs(
    scores: NDArray[np.float64], labels: NDArray[np.float32], q: Queries
) -> NDArray[np.float64]:
    """The share of pairs of different label in the right order; NaN if there is none."""
    return over_rankings(_shares, labels, scores, q.offsets, None)


@kernel
def _share(ranked):
    right, wrong = 0, 0
    for i in range(ranked.size):
        for j in range(i + 1, ranked.size):
            right += ranked[i] > ranked[j]
            wrong += ranked[i] < ranked[j]
    return right / (right + wrong) if right + wrong else np.nan


@kernel
def _shares(first, last, offsets, k, ranked, out):
    for q in range(first, last):
        out[q] = _share(ranked[offsets[q] : offsets[q + 1]])
