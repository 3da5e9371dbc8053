"""`PairAccuracy`: the share of pairs in the right order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation._pairs import levels, share_of_pairs
from lambdaboost.evaluation.measure import MEASURES, Measure


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

    allows_negative: ClassVar[bool] = True

    empty: float = 0.0

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of one pair, 1/N; float32 (n_documents,)."""
        return q.memo("one over pairs", lambda: _one_over_pairs(q))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return share_of_pairs(scores, q, RELEVANCE)


def _one_over_pairs(q: Queries) -> NDArray[np.float32]:
    """1/N of each document's query, N its pairs of different grade; 0 if N is 0."""
    pairs = levels(q, RELEVANCE).n_pairs
    one_over = np.divide(1.0, pairs, where=pairs > 0, out=np.zeros(q.n_queries))
    return np.repeat(one_over, q.sizes).astype(np.float32)
