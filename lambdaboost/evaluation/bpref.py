"""BPref: judged documents that stand above relevant ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.binary import Binary


class BPref(Binary):
    r"""Binary preference: how rarely documents judged not relevant rank above relevant ones.

    .. math:: \mathrm{bpref} = \frac{1}{R} \sum_{i=1}^{R} \left(1 - \frac{\min(n_i, R)}{\min(N, R)}\right)

    with n_i the number of documents judged not relevant above the i-th relevant one, and R and N the numbers of
    documents judged relevant and not relevant; a term is 1 where n_i = 0. Documents without a label are ignored
    (Buckley and Voorhees 2004, in the form of trec_eval). In [0, 1]; `empty` where no document is relevant.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> BPref().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0., 0.])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(_bprefs, scores, q)


@kernel
def _bprefs(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    for q in range(first, last):
        hits, above, lost = 0, 0, 0
        for r in range(offsets[q], offsets[q + 1]):
            hit = ranked[r] >= threshold
            hits += hit
            lost += hit * min(above, n_relevant[q])  # a product, since a branch would be mispredicted
            above += ranked[r] < threshold
        at_most = max(min(n_others[q], n_relevant[q]), 1)  # 0 only if nothing is above either
        out[q] = (hits - lost / at_most) / max(n_relevant[q], 1)
