"""A template of a measure: copy it to lambdaboost/evaluation/, rename it, and change what a query is worth.

The example is the rank-biased precision of Moffat and Zobel (2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._relevance import n_relevant
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ranking import over_rankings, retrieved


@MEASURES.add
@dataclass(frozen=True, repr=False)
class RBP(Measure):
    r"""Rank-biased precision: a reader goes from each rank to the next with the chance p (Moffat and Zobel 2008).

    .. math:: \mathrm{RBP} = (1 - p) \sum_r p^{r-1} [l(r) \ge t]

    with l(r) the grade at rank r. In [0, 1]; undefined where no document is relevant.

    Parameters
    ----------
    persistence : float, default 0.8
        The chance p, above 0 and below 1.
    threshold : float, default 1
        The lowest grade t that counts as relevant.
    empty : float, default 0.0
        What a query without a relevant document counts as.

    Examples
    --------
    >>> RBP(persistence=0.5).per_query([0.1, 0.3, 0.2], Queries([2, 0, 1], sizes=[3]))
    array([0.375])

    """

    persistence: float = 0.8
    threshold: float = 1
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.persistence < 1:
            raise ValueError(f"persistence is {self.persistence!r}: give a chance above 0 and below 1")
        self._set(persistence=float(self.persistence), threshold=_checks.threshold(self.threshold))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        grades = retrieved(q.relevance, scores, np.nan)  # a document that was not retrieved gains nothing
        n = n_relevant(q, self.threshold)
        return over_rankings(
            _queries, grades, scores, q, None, np.float32(self.threshold), self.persistence, n
        )


@kernel
def _one_query(grades, threshold, p):  # type: ignore[no-untyped-def]
    """What a query is worth, its grades from the first rank down: the function to change."""
    total, reading = 0.0, 1.0
    for r in range(grades.size):
        total += reading if grades[r] >= threshold else 0.0
        reading *= p
    return (1 - p) * total


@kernel
def _queries(first, last, offsets, k, ranked, threshold, p, n_relevant, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        out[q] = _one_query(ranked[a:b], threshold, p) if n_relevant[q] else np.nan
