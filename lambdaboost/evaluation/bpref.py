"""`BPref`: binary preference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._relevance import n_judged, n_relevant
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ranking import over_rankings, retrieved


@MEASURES.add
@dataclass(frozen=True, repr=False)
class BPref(Measure):
    r"""Binary preference: how rarely documents judged not relevant rank above relevant ones.

    .. math:: \mathrm{bpref} = \frac{1}{R} \sum_{i=1}^{R} \left(1 - \frac{\min(n_i, R)}{\min(N, R)}\right)

    with n_i the number of documents judged not relevant above the i-th relevant one, and R and N the numbers of
    documents judged relevant and not relevant; a term is 1 where n_i = 0. Documents without a label are ignored
    (Buckley and Voorhees 2004, in the form of trec_eval). In [0, 1]; undefined where no document is relevant.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.
    empty : float, default 0.0
        The value for a query without a relevant document.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> BPref().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0., 0.])

    """

    threshold: float = 1
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(threshold=_checks.threshold(self.threshold))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        labels = retrieved(q.relevance, scores, np.nan)
        n = n_relevant(q, self.threshold)
        others = n_judged(q) - n
        return over_rankings(_bprefs, labels, scores, q, None, np.float32(self.threshold), n, others)


@uncounted
def _bpref(q, offsets, ranked, threshold, n, others):  # type: ignore[no-untyped-def]
    hits, above, lost = 0, 0, 0
    for label in ranked[offsets[q] : offsets[q + 1]]:
        hit = label >= threshold
        hits += hit
        lost += hit * min(above, n)  # a product, since a branch would be mispredicted
        above += label < threshold
    at_most = max(min(others, n), 1)  # 0 only if nothing is above either
    return (hits - lost / at_most) / n if n else np.nan


@kernel
def _bprefs(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        out[q] = _bpref(q, offsets, ranked, threshold, n_relevant[q], n_others[q])
