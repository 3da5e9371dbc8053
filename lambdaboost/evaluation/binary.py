"""Measures of the ranks of relevant documents, those of a grade of at least a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, check_whole
from lambdaboost._jit import inlined, kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import AtCutoff, Measure
from lambdaboost.evaluation.rankings import longest, mask_not_retrieved, over_rankings


class Binary(Measure, registered=False):
    """A measure of the ranks of relevant documents, those of a grade of at least `threshold`."""

    threshold: float = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "give the lowest grade that counts as relevant, a number > 0"
        self._set(threshold=check_number("threshold", self.threshold, above=0, remedy=remedy))

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1 if it is relevant, else 0; float32 (n_documents,)."""
        return self.relevant(q)

    def relevant(self, q: Queries) -> NDArray[np.float32]:
        """1 for a relevant document, else 0: float32 (n_documents,); cached in `q`."""
        at_least = np.float32(self.threshold)
        return q.memo(("relevant", self.threshold), lambda: (q.relevance >= at_least).astype(np.float32))

    def n_relevant(self, q: Queries) -> NDArray[np.int64]:
        """The number of relevant documents of each query, int64 (n_queries,); cached in `q`."""
        return q.memo(("n relevant", self.threshold), lambda: _count(self.relevant(q) > 0, q))

    def n_others(self, q: Queries) -> NDArray[np.int64]:
        """The number of other documents with a grade of each query, int64 (n_queries,); cached in `q`."""
        below = np.float32(self.threshold)
        return q.memo(("n others", self.threshold), lambda: _count(q.relevance < below, q))

    def _over_rankings(
        self, function: Callable[..., None], scores: NDArray[np.float64], q: Queries, k: int | None = None
    ) -> NDArray[np.float64]:
        """One value per query, by ``function(first, last, offsets, k, grades, threshold, n_relevant, n_others, out)``.

        The grades are in rank order, and undefined past rank k. NaN where no document is relevant.
        """
        grades = mask_not_retrieved(q.relevance, scores, np.nan)
        threshold, n, others = np.float32(self.threshold), self.n_relevant(q), self.n_others(q)
        values = over_rankings(function, grades, scores, q, k, threshold, n, others)
        return np.where(n > 0, values, np.nan)


def _count(counted: NDArray[np.bool_], q: Queries) -> NDArray[np.int64]:
    return np.add.reduceat(counted, q.offsets[:-1], dtype=np.int64)


class AtRank(Binary, AtCutoff, registered=False):
    """Hits in the first k ranks."""

    k: int = field()  # needed, unlike that of `AtCutoff`

    def __post_init__(self) -> None:
        check_whole("k", self.k, remedy="give the last rank that counts, a whole number ≥ 1")
        super().__post_init__()


class AUC(Binary):
    r"""Area under the ROC curve: the share of pairs of a relevant and another document in the right order.

    .. math:: \mathrm{AUC} = \frac{1}{R N} \sum_{i : l_i \ge t} \sum_{j : l_j < t} [r_i < r_j]

    with r_i the rank, R relevant and N other documents (Chakrabarti et al. 2008, §2.2.1). Documents without a
    label are in no pair. In [0, 1]; `empty` where there is no pair.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> AUC().per_query([0.2, 0.1, 0.3, 0.4, 0.5], q).round(4)
    array([1., 0.])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        pairs = self.n_relevant(q) * self.n_others(q)
        return over_rankings(_aucs, q.relevance, scores, q, None, np.float32(self.threshold), pairs)


@kernel
def _aucs(first, last, offsets, k, ranked, threshold, pairs, out):
    for q in range(first, last):
        others, wrong = 0, 0
        for r in range(offsets[q], offsets[q + 1]):  # counts the others above each relevant one
            wrong += (ranked[r] >= threshold) * others
            others += ranked[r] < threshold
        out[q] = 1.0 - wrong / pairs[q] if pairs[q] else np.nan


class BPref(Binary):
    r"""Binary preference: how rarely documents judged not relevant rank above relevant ones.

    .. math:: \mathrm{bpref} = \frac{1}{R} \sum_{i=1}^{R} \left(1 - \frac{\min(n_i, R)}{\min(N, R)}\right)

    with n_i the number of documents judged not relevant above the i-th relevant one, and R and N the numbers of
    documents judged relevant and not relevant; a term is 1 where n_i = 0. Documents without a label are ignored
    (Buckley and Voorhees 2004, in the form of trec_eval). In [0, 1]; `empty` where no document is relevant.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> BPref().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0., 0.])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(_bprefs, scores, q)


@kernel
def _bprefs(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    for q in range(first, last):
        hits, above, lost = 0, 0, 0
        for r in range(offsets[q], offsets[q + 1]):
            hit = ranked[r] >= threshold
            hits += hit
            lost += hit * min(above, n_relevant[q])  # a product, since a branch would be mispredicted
            above += ranked[r] < threshold
        at_most = max(min(n_others[q], n_relevant[q]), 1)  # 0 only if nothing is above either
        out[q] = (hits - lost / at_most) / max(n_relevant[q], 1)


class MAP(Binary, AtCutoff):
    r"""Mean average precision: the precision at the rank of each relevant document, averaged over these.

    .. math:: \mathrm{AP@}k = \frac{1}{\min(R, k)} \sum_{i : r_i \le k} \frac{i}{r_i}

    with r_1 < … < r_R the ranks of the relevant documents (Burges, Ragno and Le 2006, §2; Chakrabarti et al.
    2008, §2.2.4). In [0, 1]; `empty` where no document is relevant.

    At a cutoff the denominator is min(R, k), so that a perfect ranking has 1: as in LightGBM's and XGBoost's ``map@k``
    and Kaggle's MAP@k. trec_eval's ``map_cut_k`` divides by R.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> MAP().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5833, 0.    ])
    >>> MAP(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.25, 0.  ])

    """

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1 / min(R, k) if it is relevant, else 0; float32 (n_documents,)."""
        n = np.clip(self.n_relevant(q), 1, self.k).astype(np.float64)
        return (self.relevant(q) / np.repeat(n, q.sizes)).astype(np.float32)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(_average_precisions, scores, q, self.k)


@inlined
def _sum_of_precisions(q, offsets, ranked, k, threshold, ranks):
    in_order, n = ranked[offsets[q] : offsets[q + 1]], 0
    for r in range(min(in_order.size, k)):
        ranks[n] = r + 1  # overwritten unless r is a hit; a branch would be mispredicted
        n += in_order[r] >= threshold
    total = 0.0
    for i in range(n):
        total += (i + 1) / ranks[i]
    return total


@kernel
def _average_precisions(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    ranks = np.empty(longest(first, last, offsets), dtype=np.int64)
    for q in range(first, last):
        counted = max(min(n_relevant[q], k), 1)
        out[q] = _sum_of_precisions(q, offsets, ranked, k, threshold, ranks) / counted


class MRR(Binary, AtCutoff):
    r"""Mean reciprocal rank: one over the rank of the first relevant document, 0 past k.

    .. math:: \mathrm{RR@}k = 1 / r \;\text{if}\; r \le k \;\text{else}\; 0

    with r the rank of the highest relevant document (Burges, Ragno and Le 2006, §2; Chakrabarti et al. 2008,
    §2.2.2, whose ranks count from 0). In [0, 1]; `empty` where no document is relevant.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> MRR().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(_reciprocal_ranks, scores, q, self.k)


@kernel
def _reciprocal_ranks(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    for q in range(first, last):
        out[q] = 0.0
        for r in range(min(offsets[q + 1] - offsets[q], k)):
            if ranked[offsets[q] + r] >= threshold:
                out[q] = 1.0 / (r + 1)
                break


class Precision(AtRank):
    r"""Precision at k: the share of the first k ranks that hold a relevant document.

    .. math:: \mathrm{P@}k = \frac{1}{k} \sum_{r=1}^{k} [l(r) \ge t]

    with l(r) the grade at rank r and t the threshold; ranks past the last document count as not relevant, as
    in trec_eval. In [0, 1]; `empty` where no document is relevant. ``Precision(1)`` is "winner takes all", one minus
    the WTA cost of Burges, Ragno and Le (2006, §2): 1 if the top document is relevant.

    Parameters
    ----------
    k : int
        The last rank that counts.
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> Precision(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1/k if it is relevant, else 0; float32 (n_documents,)."""
        return self.relevant(q) / np.float32(self.k)

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(count_hits, scores, q, self.k) / self.k


class Recall(AtRank):
    r"""Recall at k: the share of the relevant documents in the first k ranks.

    .. math:: \mathrm{R@}k = \frac{1}{R} \sum_{r=1}^{k} [l(r) \ge t]

    with l(r) the grade at rank r, t the threshold and R the number of relevant documents. In [0, 1];
    `empty` where no document is relevant.

    Parameters
    ----------
    k : int
        The last rank that counts.
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> Recall(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(count_hits, scores, q, self.k) / self.n_relevant(q)


@kernel
def count_hits(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    """The number of relevant documents in the first k ranks."""
    for q in range(first, last):
        hits = 0
        for r in range(min(offsets[q + 1] - offsets[q], k)):
            hits += ranked[offsets[q] + r] >= threshold
        out[q] = hits
