"""`WTA`: winner takes all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._relevance import n_relevant, relevant
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.ranking import over_rankings


@dataclass(frozen=True, repr=False)
class WTA(Measure):
    r"""Winner takes all: 1 if the top document is relevant, else 0.

    One minus the WTA cost of Burges, Ragno and Le (2006, §2), so that higher is better. Undefined where no
    document is relevant.

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
    >>> WTA().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0., 0.])

    """

    threshold: float = 1
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(threshold=_checks.threshold(self.threshold))

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """What a document is worth in a swap: 1 if it is relevant; float32 (n_documents,)."""
        return relevant(q, self.threshold)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return over_rankings(_winners, scores, q.offsets, 1, q.relevance, np.float32(self.threshold))


@kernel
def _winner(labels, order, threshold):  # type: ignore[no-untyped-def]
    if labels[order[0]] >= threshold:
        return 1.0
    return 0.0 if n_relevant(labels, threshold) else np.nan


@kernel
def _winners(first, last, offsets, order, labels, threshold, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        out[q] = _winner(labels[a:b], order[a:b], threshold)
