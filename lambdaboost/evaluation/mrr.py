"""`MRR`: mean reciprocal rank."""

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
class MRR(Measure):
    r"""Mean reciprocal rank: one over the rank of the first relevant document, 0 past k.

    .. math:: \mathrm{RR@}k = 1 / r \;\text{if}\; r \le k \;\text{else}\; 0

    with r the rank of the highest relevant document (Burges, Ragno and Le 2006, §2; Chakrabarti et al. 2008,
    §2.2.2, whose ranks count from 0). In [0, 1]; undefined where no document is relevant.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    threshold : float, default 1
        The lowest grade that counts as relevant.
    empty : float, default 0.0
        The value for a query without a relevant document.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> MRR().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    k: int | None = None
    threshold: float = 1
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(k=_checks.cutoff(self.k), threshold=_checks.threshold(self.threshold))

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1 if it is relevant, else 0; float32 (n_documents,)."""
        return relevant(q, self.threshold)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        labels = retrieved(q.relevance, scores, np.nan)
        n = n_relevant(q, self.threshold)
        return over_rankings(_reciprocal_ranks, labels, scores, q, self.k, np.float32(self.threshold), n)


@uncounted
def _reciprocal_rank(q, offsets, ranked, k, threshold):  # type: ignore[no-untyped-def]
    in_order = ranked[offsets[q] : offsets[q + 1]]
    for r in range(min(in_order.size, k)):
        if in_order[r] >= threshold:
            return 1.0 / (r + 1)
    return 0.0


@kernel
def _reciprocal_ranks(first, last, offsets, k, ranked, threshold, n_relevant, out):  # type: ignore[no-untyped-def]
    for q in range(first, last):
        out[q] = _reciprocal_rank(q, offsets, ranked, k, threshold) if n_relevant[q] else np.nan
