"""`BPref`: binary preference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._relevance import n_judged, n_relevant
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.ranking import over_rankings


@dataclass(frozen=True, repr=False)
class BPref(Measure):
    r"""Binary preference: how few of the documents judged not relevant stand above the relevant ones.

    .. math:: \mathrm{bpref} = \frac{1}{R} \sum_{i=1}^{R} \left(1 - \frac{\min(n_i, R)}{\min(N, R)}\right)

    with n_i the documents judged not relevant above the i-th relevant one, R the number of relevant documents
    and N that of the others; 1 for a document with none above it. Documents without a label are passed over
    (Buckley and Voorhees 2004, in the form of trec_eval). In [0, 1]; undefined where no document is relevant.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.
    empty : float, default 0.0
        What a query without a relevant document counts as.

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
        return over_rankings(_bprefs, scores, q.offsets, None, q.relevance, np.float32(self.threshold))


@kernel
def _bpref(labels, order, threshold):  # type: ignore[no-untyped-def]
    n = n_relevant(labels, threshold)
    others = n_judged(labels) - n
    above, total = 0, 0.0
    for r in range(order.size):
        if labels[order[r]] >= threshold:
            total += 1.0 - (min(above, n) / min(others, n) if above else 0.0)
        elif labels[order[r]] < threshold:
            above += 1
    return total / n if n else np.nan


@kernel
def _bprefs(first, last, offsets, order, labels, threshold, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        out[q] = _bpref(labels[a:b], order[a:b], threshold)
