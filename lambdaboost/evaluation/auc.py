"""`AUC`: the area under the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ranking import over_rankings


@MEASURES.add
@dataclass(frozen=True, repr=False)
class AUC(Measure):
    r"""Area under the ROC curve: the share of pairs of a relevant and another document in the right order.

    .. math:: \mathrm{AUC} = \frac{1}{R N} \sum_{i : l_i \ge t} \sum_{j : l_j < t} [r_i < r_j]

    with r_i the rank, R relevant and N other documents (Chakrabarti et al. 2008, §2.2.1). Documents without a
    label are in no pair. In [0, 1]; undefined where there is no pair.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.
    empty : float, default 0.0
        The value for a query without a pair.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> AUC().per_query([0.2, 0.1, 0.3, 0.4, 0.5], q).round(4)
    array([1., 0.])

    """

    threshold: float = 1
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(threshold=_checks.threshold(self.threshold))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return over_rankings(_aucs, q.relevance, scores, q, None, np.float32(self.threshold))


@uncounted
def _auc(q, offsets, ranked, threshold):  # type: ignore[no-untyped-def]
    n_relevant, n_other, wrong = 0, 0, 0
    for label in ranked[offsets[q] : offsets[q + 1]]:  # counts the others above each relevant one
        hit = label >= threshold
        n_relevant += hit
        wrong += hit * n_other
        n_other += label < threshold
    return 1.0 - wrong / (n_relevant * n_other) if n_relevant * n_other else np.nan


@kernel
def _aucs(first, last, offsets, k, ranked, threshold, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        out[q] = _auc(q, offsets, ranked, threshold)
