"""Precision: relevant documents at the top."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.binary import AtRank, count_hits


class Precision(AtRank):
    r"""Precision at k: the share of the first k ranks that hold a relevant document.

    .. math:: \mathrm{P@}k = \frac{1}{k} \sum_{r=1}^{k} [l(r) \ge t]

    with l(r) the grade at rank r and t the threshold; ranks past the last document count as not relevant, as
    in trec_eval. In [0, 1]; `empty` where no document is relevant.

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
    >>> Precision(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1/k if it is relevant, else 0; float32 (n_documents,)."""
        return self.relevant(q) / np.float32(self.k)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(count_hits, scores, q, self.k) / self.k
