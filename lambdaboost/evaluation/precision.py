"""`Precision`: the share of relevant documents at the top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._relevance import n_relevant, relevant
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ranking import over_rankings, retrieved


@MEASURES.add
@dataclass(frozen=True, repr=False)
class Precision(Measure):
    r"""Precision at k: the share of the first k ranks that hold a relevant document.

    .. math:: \mathrm{P@}k = \frac{1}{k} \sum_{r=1}^{k} [l(r) \ge t]

    with l(r) the grade at rank r and t the threshold; ranks past the last document count as not relevant, as
    in trec_eval. In [0, 1]; undefined where no document is relevant.

    Parameters
    ----------
    k : int
        The last rank that counts.
    threshold : float, default 1
        The lowest grade that counts as relevant.
    empty : float, default 0.0
        The value for a query without a relevant document.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> Precision(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    k: int
    threshold: float = 1
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            k=_checks.whole("k", self.k, "give the last rank that counts, a whole number ≥ 1"),
            threshold=_checks.threshold(self.threshold),
        )

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1/k if it is relevant, else 0; float32 (n_documents,)."""
        return q.memo(
            (Precision, self.k, self.threshold, "swap gains"),
            lambda: relevant(q, self.threshold) / np.float32(self.k),
        )

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        labels = retrieved(q.relevance, scores, np.nan)
        n = n_relevant(q, self.threshold)
        return over_rankings(_precisions, labels, scores, q, self.k, np.float32(self.threshold), n)


@uncounted
def _hits(q, offsets, ranked, k, threshold):  # type: ignore[no-untyped-def]
    in_order, n = ranked[offsets[q] : offsets[q + 1]], 0
    for r in range(min(in_order.size, k)):
        n += in_order[r] >= threshold
    return n


@kernel
def _precisions(first, last, offsets, k, ranked, threshold, n_relevant, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        out[q] = _hits(q, offsets, ranked, k, threshold) / k if n_relevant[q] else np.nan
