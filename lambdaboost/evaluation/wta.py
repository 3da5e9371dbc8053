"""`WTA`: winner takes all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._relevance import n_relevant, relevant
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ranking import over_rankings, retrieved


@MEASURES.add
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
        The value for a query without a relevant document.

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
        """The gain of a document in a swap: 1 if it is relevant, else 0; float32 (n_documents,)."""
        return relevant(q, self.threshold)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        labels = retrieved(q.relevance, scores, np.nan)
        n = n_relevant(q, self.threshold)
        return over_rankings(_winners, labels, scores, q, 1, np.float32(self.threshold), n)


@kernel
def _winners(first, last, offsets, k, ranked, threshold, n_relevant, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        wins = 1.0 if ranked[offsets[q]] >= threshold else 0.0
        out[q] = wins if n_relevant[q] else np.nan
