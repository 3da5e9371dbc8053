"""A template of a measure: copy it to lambdaboost/evaluation/, rename it, and change what a query is worth.

The example is the rank-biased precision of Moffat and Zobel (2008), under a name that no real measure wants.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number
from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.binary import count_judged
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.rankings import mask_not_retrieved, over_rankings


class ReadingDepth(Measure):
    r"""A reader goes from each rank to the next with the chance p (Moffat and Zobel 2008).

    .. math:: (1 - p) \sum_r p^{r-1} [l(r) \ge t]

    with l(r) the grade at rank r and t the threshold. In [0, 1]; undefined where no document is relevant.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.
    persistence : float, default 0.8
        The chance p, above 0 and below 1.
    source : str, default "relevance"
        The label source of the grades.
    empty : float, default 0.0
        The value for a query without a relevant document.

    Examples
    --------
    >>> ReadingDepth(persistence=0.5).per_query([0.1, 0.3, 0.2], Queries([2, 0, 1], sizes=[3]))
    array([0.375])

    """

    threshold: float = 1.0
    persistence: float = 0.8
    source: str = "relevance"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("persistence", self.persistence, above=0, below=1)

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        # A document that was not retrieved gains nothing.
        grades = mask_not_retrieved(q.source(self.source), scores, np.nan)
        n_relevant, _ = count_judged(self, q)
        threshold = np.float32(self.threshold)
        return over_rankings(
            _reading_depths, grades, scores, q, None, threshold, self.persistence, n_relevant
        )


@kernel
def _reading_depths(first, last, offsets, k, ranked, threshold, p, n_relevant, out):
    """What each query is worth, its grades from the first rank down: the loop to change."""
    for q in range(first, last):
        total, reading = 0.0, 1.0
        for grade in ranked[offsets[q] : offsets[q + 1]]:
            total += reading if grade >= threshold else 0.0
            reading *= p
        out[q] = (1 - p) * total if n_relevant[q] else np.nan
