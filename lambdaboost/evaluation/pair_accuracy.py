"""PairAccuracy: the share of pairs of grades in the right order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.pairs import levels, share_of_pairs


class PairAccuracy(Measure):
    r"""Pairwise correct: the share of the pairs of different grade that are in the right order.

    .. math:: \frac{|\{(i, j) : l_i > l_j,\, r_i < r_j\}|}{|\{(i, j) : l_i > l_j\}|}

    with r_i the rank, so tied scores count by input order (Burges, Ragno and Le 2006, §2). Documents
    without a label are in no pair. In [0, 1]; `empty` where there is no pair.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> PairAccuracy().per_query([0.1, 0.3, 0.2], Queries([2, 1, 0], sizes=[3])).round(4)
    array([0.3333])

    """

    allows_negative: ClassVar[bool] = True

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of one pair, 1/N; float32 (n_documents,)."""
        pairs = levels(q, RELEVANCE).n_pairs
        one_over = np.divide(1.0, pairs, where=pairs > 0, out=np.zeros(q.n_queries))
        return np.repeat(one_over, q.sizes).astype(np.float32)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return share_of_pairs(scores, q, RELEVANCE)
