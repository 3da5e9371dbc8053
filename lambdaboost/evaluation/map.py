"""MAP: mean average precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, no_refcount
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.binary import Binary
from lambdaboost.evaluation.measure import AtCutoff
from lambdaboost.evaluation.rankings import longest


class MAP(Binary, AtCutoff):
    r"""Mean average precision: the precision at the rank of each relevant document, averaged over these.

    .. math:: \mathrm{AP@}k = \frac{1}{\min(R, k)} \sum_{i : r_i \le k} \frac{i}{r_i}

    with r_1 < … < r_R the ranks of the relevant documents (Burges, Ragno and Le 2006, §2; Chakrabarti et al.
    2008, §2.2.4). In [0, 1]; `empty` where no document is relevant.

    At a cutoff the denominator is min(R, k), so that a perfect ranking has 1: as in LightGBM's and XGBoost's ``map@k``
    and Kaggle's MAP@k. trec_eval's ``map_cut_k`` divides by R.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> MAP().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5833, 0.    ])
    >>> MAP(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.25, 0.  ])

    """

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1 / min(R, k) if it is relevant, else 0; float32 (n_documents,)."""
        n = np.clip(self.n_relevant(q), 1, self.k).astype(np.float64)
        return (self.relevant(q) / np.repeat(n, q.sizes)).astype(np.float32)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(_average_precisions, scores, q, self.k)


@no_refcount
def _sum_of_precisions(q, offsets, ranked, k, threshold, ranks):
    in_order, n = ranked[offsets[q] : offsets[q + 1]], 0
    for r in range(min(in_order.size, k)):
        ranks[n] = r + 1  # overwritten unless r is a hit; a branch would be mispredicted
        n += in_order[r] >= threshold
    total = 0.0
    for i in range(n):
        total += (i + 1) / ranks[i]
    return total


@kernel
def _average_precisions(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    ranks = np.empty(longest(first, last, offsets), dtype=np.int64)
    for q in range(first, last):
        counted = max(min(n_relevant[q], k), 1)
        out[q] = _sum_of_precisions(q, offsets, ranked, k, threshold, ranks) / counted
