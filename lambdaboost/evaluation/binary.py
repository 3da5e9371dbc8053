"""Measures of the ranks of relevant documents, those of a grade of at least a threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.rankings import longest, mask_not_retrieved, over_rankings


def relevant(measure: Any, q: Queries) -> NDArray[np.float32]:
    """1 for a document that is relevant by the measure's source and threshold, else 0: float32 (n_documents,)."""
    return (q.source(measure.source) >= np.float32(measure.threshold)).astype(np.float32)


def count_judged(measure: Any, q: Queries) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of relevant documents of each query, and of others with a grade, int64 (n_queries,); cached in `q`."""

    def count() -> tuple[NDArray[np.int64], ...]:
        grades, threshold = q.source(measure.source), np.float32(measure.threshold)
        masks = (grades >= threshold, grades < threshold)
        return tuple(np.add.reduceat(mask, q.offsets[:-1], dtype=np.int64) for mask in masks)

    return q.memo(("judged", measure.source, measure.threshold), count)


def over_judged(
    function: Callable[..., None], measure: Any, scores: NDArray[np.float64], q: Queries, k: int | None = None
) -> NDArray[np.float64]:
    """One value per query, by ``function(first, last, offsets, k, grades, threshold, n_relevant, n_others, out)``.

    The grades are in rank order, and undefined past rank k. NaN where no document is relevant.
    """
    n_relevant, n_others = count_judged(measure, q)
    grades = mask_not_retrieved(q.source(measure.source), scores, np.nan)
    values = over_rankings(
        function, grades, scores, q, k, np.float32(measure.threshold), n_relevant, n_others
    )
    return np.where(n_relevant > 0, values, np.nan)


class AUC(Measure):
    r"""Area under the ROC curve: the share of pairs of a relevant and another document in the right order.

    .. math:: \mathrm{AUC} = \frac{1}{R N} \sum_{i : l_i \ge t} \sum_{j : l_j < t} [r_i < r_j]

    with r_i the rank, R relevant and N other documents (Chakrabarti et al. 2008, §2.2.1). Documents without a
    label are in no pair; a pair of which neither document was retrieved is wrong. In [0, 1]; `empty` where there is no
    pair.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.
    source : str, default "relevance"
        The label source of the grades.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> AUC().per_query([0.2, 0.1, 0.3, 0.4, 0.5], q).round(4)
    array([1., 0.])

    """

    threshold: float = 1.0
    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """One less the share of pairs in the wrong order."""
        return over_judged(_aucs, self, scores, q)


@kernel
def _aucs(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    for q in range(first, last):
        hits, others, wrong = 0, 0, 0
        for r in range(offsets[q], offsets[q + 1]):  # counts the others above each relevant one
            hit = ranked[r] >= threshold
            hits += hit
            wrong += hit * others
            others += ranked[r] < threshold
        # A relevant document that was not retrieved is in no right pair.
        wrong += (n_relevant[q] - hits) * n_others[q]
        pairs = n_relevant[q] * n_others[q]
        out[q] = 1.0 - wrong / pairs if pairs else np.nan


class BPref(Measure):
    r"""Binary preference: how rarely documents judged not relevant rank above relevant ones.

    .. math:: \mathrm{bpref} = \frac{1}{R} \sum_{i=1}^{R} \left(1 - \frac{\min(n_i, R)}{\min(N, R)}\right)

    with n_i the number of documents judged not relevant above the i-th relevant one, and R and N the numbers of
    documents judged relevant and not relevant; a term is 1 where n_i = 0. Documents without a label are ignored
    (Buckley and Voorhees 2004, in the form of trec_eval). In [0, 1]; `empty` where no document is relevant.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.
    source : str, default "relevance"
        The label source of the grades.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> BPref().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0., 0.])

    """

    threshold: float = 1.0
    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """By the others above each relevant document."""
        return over_judged(_bprefs, self, scores, q)


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


class MAP(Measure):
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
    source : str, default "relevance"
        The label source of the grades.

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
    threshold: float = 1.0
    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """The precisions at the ranks of relevant documents, averaged."""
        return over_judged(_average_precisions, self, scores, q, self.k)


@kernel
def _average_precisions(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    ranks = np.empty(longest(first, last, offsets), dtype=np.int64)
    for q in range(first, last):
        in_order, n = ranked[offsets[q] : offsets[q + 1]], 0
        for r in range(min(in_order.size, k)):
            ranks[n] = r + 1  # overwritten unless r is a hit; a branch would be mispredicted
            n += in_order[r] >= threshold
        total = 0.0
        for i in range(n):
            total += (i + 1) / ranks[i]
        out[q] = total / max(min(n_relevant[q], k), 1)


class MRR(Measure):
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
    source : str, default "relevance"
        The label source of the grades.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> MRR().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    k: int | None = None
    threshold: float = 1.0
    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """One over the rank of the first relevant document."""
        return over_judged(_reciprocal_ranks, self, scores, q, self.k)


@kernel
def _reciprocal_ranks(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    for q in range(first, last):
        out[q] = 0.0
        for r in range(min(offsets[q + 1] - offsets[q], k)):
            if ranked[offsets[q] + r] >= threshold:
                out[q] = 1.0 / (r + 1)
                break


class Precision(Measure):
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
    source : str, default "relevance"
        The label source of the grades.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> Precision(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    k: int
    threshold: float = 1.0
    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """Hits over k."""
        return over_judged(_hits, self, scores, q, self.k) / self.k


class Recall(Measure):
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
    source : str, default "relevance"
        The label source of the grades.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> Recall(k=2).per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0.5, 0. ])

    """

    k: int
    threshold: float = 1.0
    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """Hits over the number of relevant documents."""
        return over_judged(_hits, self, scores, q, self.k) / count_judged(self, q)[0]


@kernel
def _hits(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    for q in range(first, last):
        hits = 0
        for r in range(min(offsets[q + 1] - offsets[q], k)):
            hits += ranked[offsets[q] + r] >= threshold
        out[q] = hits
