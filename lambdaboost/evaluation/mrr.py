"""MRR: the rank of the first relevant document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.binary import Binary
from lambdaboost.evaluation.measure import AtCutoff


class MRR(Binary, AtCutoff):
    r"""Mean reciprocal rank: one over the rank of the first relevant document, 0 past k.

    .. math:: \mathrm{RR@}k = 1 / r \;\text{if}\; r \le k \;\text{else}\; 0

    with r the rank of the highest relevant document (Burges, Ragno and Le 2006, §2; Chakrabarti et al. 2008,
    §2.2.2, whose ranks count from 0). In [0, 1]; `empty` where no document is relevant.

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
    >>> MRR().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(_reciprocal_ranks, scores, q, self.k)


@kernel
def _reciprocal_ranks(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    for q in range(first, last):
        out[q] = 0.0
        for r in range(min(offsets[q + 1] - offsets[q], k)):
            if ranked[offsets[q] + r] >= threshold:
                out[q] = 1.0 / (r + 1)
                break
