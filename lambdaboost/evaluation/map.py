"""`MAP`: mean average precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._relevance import n_relevant, relevant
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ranking import ALL, longest, over_rankings, retrieved


@MEASURES.add
@dataclass(frozen=True, repr=False)
class MAP(Measure):
    r"""Mean average precision: the precision at the rank of each relevant document, averaged over these.

    .. math:: \mathrm{AP@}k = \frac{1}{\min(R, k)} \sum_{i : r_i \le k} \frac{i}{r_i}

    with r_1 < … < r_R the ranks of the relevant documents (Burges, Ragno and Le 2006, §2; Chakrabarti et al.
    2008, §2.2.4). In [0, 1]; undefined where no document is relevant.

    At a cutoff the denominator is min(R, k), so that a perfect ranking has 1: as in LightGBM's and XGBoost's ``map@k``
    and Kaggle's MAP@k. trec_eval's ``map_cut_k`` divides by R.

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
    >>> MAP().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5833, 0.    ])
    >>> MAP(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.25, 0.  ])

    """

    k: int | None = None
    threshold: float = 1
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(k=_checks.cutoff(self.k), threshold=_checks.threshold(self.threshold))

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1 / min(R, k) if it is relevant, else 0; float32 (n_documents,)."""
        key = (MAP, self.k, self.threshold, "swap gains")
        return q.memo(key, lambda: _one_over_counted(q, self.k, self.threshold))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        labels = retrieved(q.relevance, scores, np.nan)
        n = n_relevant(q, self.threshold)
        return over_rankings(_average_precisions, labels, scores, q, self.k, np.float32(self.threshold), n)


def _one_over_counted(q: Queries, k: int | None, threshold: float) -> NDArray[np.float32]:
    """1 / min(R, k) for each relevant document, 0 for the others."""
    hits = relevant(q, threshold)
    n = np.minimum(n_relevant(q, threshold), ALL if k is None else k).astype(np.float64)
    return (hits / np.repeat(np.maximum(n, 1), q.sizes)).astype(np.float32)


@uncounted
def _sum_of_precisions(q, offsets, ranked, k, threshold, ranks):  # type: ignore[no-untyped-def]
    in_order, n = ranked[offsets[q] : offsets[q + 1]], 0
    for r in range(min(in_order.size, k)):
        ranks[n] = r + 1  # overwritten unless r is a hit; a branch would be mispredicted
        n += in_order[r] >= threshold
    total = 0.0
    for i in range(n):
        total += (i + 1) / ranks[i]
    return total


@kernel
def _average_precisions(first, last, offsets, k, ranked, threshold, n_relevant, out):  # type: ignore[no-untyped-def]
    ranks = np.empty(longest(first, last, offsets), dtype=np.int64)
    for q in range(first, last):
        n = min(n_relevant[q], k)
        out[q] = _sum_of_precisions(q, offsets, ranked, k, threshold, ranks) / n if n else np.nan
