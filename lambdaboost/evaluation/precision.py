"""`Precision`, `Recall` and `WTA`: the relevant documents in the first ranks."""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation._binary import Binary
from lambdaboost.evaluation.measure import AtCutoff


class _AtRank(Binary, AtCutoff, registered=False):
    k: int = field()  # needed, unlike that of `AtCutoff`

    def __post_init__(self) -> None:
        check_whole("k", self.k, remedy="give the last rank that counts, a whole number ≥ 1")
        super().__post_init__()


class Precision(_AtRank):
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
        return self._over_rankings(_count_hits, scores, q, self.k) / self.k


class Recall(_AtRank):
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
        return self._over_rankings(_count_hits, scores, q, self.k) / self.n_relevant(q)


class WTA(Binary):
    r"""Winner takes all: 1 if the top document is relevant, else 0.

    One minus the WTA cost of Burges, Ragno and Le (2006, §2), so that higher is better. `empty` where no
    document is relevant.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> WTA().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0., 0.])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(_count_hits, scores, q, 1)


@kernel
def _count_hits(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    for q in range(first, last):
        hits = 0
        for r in range(min(offsets[q + 1] - offsets[q], k)):
            hits += ranked[offsets[q] + r] >= threshold
        out[q] = hits
