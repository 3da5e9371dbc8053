"""Recall: the share of relevant documents found at the top."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.binary import AtRank, count_hits


class Recall(AtRank):
    r"""Recall at k: the share of the relevant documents in the first k ranks.

    .. math:: \mathrm{R@}k = \frac{1}{R} \sum_{r=1}^{k} [l(r) \ge t]

    with l(r) the grade at rank r, t the threshold and R the number of relevant documents. In [0, 1];
    `empty` where no document is relevant.

    Parameters
    ----------
    k : int
        The last rank that counts.
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> Recall(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(count_hits, scores, q, self.k) / self.n_relevant(q)
