"""AUC: the area under the ROC curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.binary import Binary
from lambdaboost.evaluation.rankings import over_rankings


class AUC(Binary):
    r"""Area under the ROC curve: the share of pairs of a relevant and another document in the right order.

    .. math:: \mathrm{AUC} = \frac{1}{R N} \sum_{i : l_i \ge t} \sum_{j : l_j < t} [r_i < r_j]

    with r_i the rank, R relevant and N other documents (Chakrabarti et al. 2008, §2.2.1). Documents without a
    label are in no pair. In [0, 1]; `empty` where there is no pair.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> AUC().per_query([0.2, 0.1, 0.3, 0.4, 0.5], q).round(4)
    array([1., 0.])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        pairs = self.n_relevant(q) * self.n_others(q)
        return over_rankings(_aucs, q.relevance, scores, q, None, np.float32(self.threshold), pairs)


@kernel
def _aucs(first, last, offsets, k, ranked, threshold, pairs, out):
    for q in range(first, last):
        others, wrong = 0, 0
        for r in range(offsets[q], offsets[q + 1]):  # counts the others above each relevant one
            wrong += (ranked[r] >= threshold) * others
            others += ranked[r] < threshold
        out[q] = 1.0 - wrong / pairs[q] if pairs[q] else np.nan
