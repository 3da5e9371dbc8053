"""`ERR`: expected reciprocal rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, refuse_labels
from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.rankings import mask_not_retrieved, over_rankings


class ERR(Measure):
    r"""Expected reciprocal rank at which a user who reads down the list is satisfied.

    .. math:: \mathrm{ERR@}k = \sum_{r=1}^{k} \frac{1}{r} R(r) \prod_{i<r} (1 - R(i)),
              \quad R(r) = \frac{2^{l(r)} - 1}{2^{l_\max}}

    with l(r) the grade at rank r and R(r) the probability that it satisfies (Chapelle, Metzler, Zhang and Grinspan
    2009). In [0, 1); `empty` where every grade is 0.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    max_grade : float, default 4
        The highest possible grade, l_max.
    source : str, default "relevance"
        The label source of the grades.

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
    max_grade: float = 4.0
    source: str = RELEVANCE

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "give the highest possible grade, above 0 and at most 1023"
        check_number("max_grade", self.max_grade, above=0, high=1023, remedy=remedy)

    def satisfaction(self, q: Queries) -> NDArray[np.float64]:
        """R, the probability of each document that it satisfies, float64 (n_documents,)."""
        grades = q.source(self.source)
        too_high = grades > np.float32(self.max_grade)
        refuse_labels(self.source, grades, too_high, f"above max_grade={self.max_grade:g}; raise it")
        grades = np.nan_to_num(grades.astype(np.float64), nan=0.0)
        return (np.exp2(grades) - 1.0) / 2.0**self.max_grade

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """The sum over the ranks up to k."""
        satisfaction = q.memo((ERR, self.source, self.max_grade), lambda: self.satisfaction(q))
        best = np.maximum.reduceat(satisfaction, q.offsets[:-1])
        values = over_rankings(_errs, mask_not_retrieved(satisfaction, scores, 0.0), scores, q, self.k)
        return np.where(best > 0, values, np.nan)


@kernel
def _errs(first, last, offsets, k, ranked, out):
    for q in range(first, last):
        total, still_reading = 0.0, 1.0
        for r in range(min(offsets[q + 1] - offsets[q], k)):
            satisfied = ranked[offsets[q] + r]
            total += still_reading * satisfied / (r + 1)
            still_reading *= 1.0 - satisfied
        out[q] = total
