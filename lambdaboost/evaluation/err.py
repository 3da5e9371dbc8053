"""`ERR`: expected reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ranking import over_rankings, retrieved


@MEASURES.add
@dataclass(frozen=True, repr=False)
class ERR(Measure):
    r"""Expected reciprocal rank at which a user who reads down the list is satisfied.

    .. math:: \mathrm{ERR@}k = \sum_{r=1}^{k} \frac{1}{r} R(r) \prod_{i<r} (1 - R(i)),
              \quad R(r) = \frac{2^{l(r)} - 1}{2^{l_\max}}

    with l(r) the grade at rank r and R(r) the probability that it satisfies (Chapelle, Metzler, Zhang and Grinspan
    2009). In [0, 1); undefined where every grade is 0.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    max_grade : float, default 4
        The highest possible grade, l_max.
    empty : float, default 0.0
        The value for a query without a grade above 0.

    Raises
    ------
    ValueError
        If a grade is above `max_grade`; names its row.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> ERR().per_query([3.0, 2.0, 1.0], Queries([2, 0, 4], sizes=[3]))  # 3/16 + 1/3 * 15/16 * 13/16
    array([0.44140625])

    """

    k: int | None = None
    max_grade: float = 4
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "give the highest possible grade, above 0 and below 1024"
        max_grade = _checks.number("max_grade", self.max_grade, remedy)
        if not 0 < max_grade < 1024:
            raise ValueError(f"max_grade is {self.max_grade!r}: {remedy}")
        self._set(k=_checks.cutoff(self.k), max_grade=max_grade)

    def satisfaction(self, q: Queries) -> NDArray[np.float64]:
        """The probability R that each document satisfies, float64 (n_documents,); cached in `q`."""
        return q.memo((ERR, self.max_grade, "satisfaction"), lambda: self._satisfaction(q))

    def _satisfaction(self, q: Queries) -> NDArray[np.float64]:
        too_high = q.relevance > np.float32(self.max_grade)
        _checks.refuse_labels(
            "relevance", q.relevance, too_high, f"above max_grade={self.max_grade}; raise it"
        )
        grades = np.nan_to_num(q.relevance.astype(np.float64), nan=0.0)
        return (np.exp2(grades) - 1.0) / 2.0**self.max_grade

    def swap_gains(self, q: Queries) -> NDArray[np.float64]:
        """The gain of a document in a swap: its probability to satisfy; float64 (n_documents,)."""
        return self.satisfaction(q)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        satisfaction = self.satisfaction(q)
        best = q.memo(
            (ERR, self.max_grade, "best"), lambda: np.maximum.reduceat(satisfaction, q.offsets[:-1])
        )
        satisfaction = retrieved(satisfaction, scores, 0.0)
        return over_rankings(_errs, satisfaction, scores, q, self.k, best)


@uncounted
def _err(q, offsets, ranked, k):  # type: ignore[no-untyped-def]
    in_order, total, still_reading = ranked[offsets[q] : offsets[q + 1]], 0.0, 1.0
    for r in range(min(in_order.size, k)):
        total += still_reading * in_order[r] / (r + 1)
        still_reading *= 1.0 - in_order[r]
    return total


@kernel
def _errs(first, last, offsets, k, ranked, best, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        out[q] = _err(q, offsets, ranked, k) if best[q] > 0 else np.nan
