"""Correlations of scores with labels: of the values, of the ranks, and of the order of pairs."""

from __future__ import annotations

from math import frexp, ldexp
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined_strict_fp, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.pairs import share_of_pairs
from lambdaboost.evaluation.rankings import sort_by_score


class KendallTau(Measure):
    r"""Kendall's τ without ties: γ of Goodman and Kruskal (1954), of the ranking and the preferences of clicks.

    .. math:: \tau = \frac{P - Q}{P + Q}

    with P and Q the numbers of pairs of different label in the right and in the wrong order. Tied labels are in no
    pair, as in Joachims (2002), so a ranking that contradicts no preference has 1. Documents of equal score rank in
    input order, so `scipy.stats.kendalltau`, which corrects for ties, differs where labels or scores tie; a pair of
    which neither document was retrieved is wrong. Svore, Volkovs and Burges (2011, §4.1) prefer CNDCG to τ for its
    weight on the top. In [−1, 1]; `empty` where no two labels differ.

    Parameters
    ----------
    source : str, default "clicks"
        The label source of the preferences.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([1, 1, 0, 0], sizes=[4], clicks=[0.5, 0.2, 0.1, 0.1])
    >>> KendallTau().per_query([4.0, 1.0, 3.0, 2.0], q).round(4)
    array([0.2])

    """

    allows_negative: ClassVar[bool] = True

    source: str = "clicks"

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """Twice the share of pairs in the right order, less 1."""
        return 2.0 * share_of_pairs(scores, q, self.source) - 1.0


class PairAccuracy(Measure):
    r"""Pairwise correct: the share of the pairs of different grade that are in the right order.

    .. math:: \frac{|\{(i, j) : l_i > l_j,\, r_i < r_j\}|}{|\{(i, j) : l_i > l_j\}|}

    with r_i the rank, so tied scores count by input order (Burges, Ragno and Le 2006, §2). Documents
    without a label are in no pair; a pair of which neither document was retrieved is wrong. In [0, 1]; `empty` where
    there is no pair.

    Parameters
    ----------
    source : str, default "relevance"
        The label source.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> PairAccuracy().per_query([0.1, 0.3, 0.2], Queries([2, 1, 0], sizes=[3])).round(4)
    array([0.3333])

    """

    allows_negative: ClassVar[bool] = True

    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """The share of pairs in the right order."""
        return share_of_pairs(scores, q, self.source)


class Pearson(Measure):
    r"""Pearson's r: the linear correlation of scores and labels within each query.

    .. math:: r = \frac{\sum_i (s_i - \bar s)(l_i - \bar l)}
              {\sqrt{\sum_i (s_i - \bar s)^2} \sqrt{\sum_i (l_i - \bar l)^2}}

    with s_i the score and l_i the label of document i: `scipy.stats.pearsonr` of each query. Labels need not be whole
    numbers. Documents without a label are left out. In [−1, 1]; `empty` where all labels or all scores are equal.

    Parameters
    ----------
    source : str, default "relevance"
        The label source.

    Raises
    ------
    ValueError
        If a score is −inf; names its row.

    Notes
    -----
    Labels may be below 0, such as returns, for neither r nor `Spearman` changes if they are shifted. Unlike all other
    measures, r reads the values of the scores and not their order alone.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([0.25, 1.5, 0.0, 0.75], sizes=[4])
    >>> Pearson().per_query([0.2, 0.9, 0.3, 0.4], q).round(4)
    array([0.932])
    >>> Pearson().per_query([0.2, 0.9, 0.3, 0.4], Queries([-0.75, 0.5, -1.0, -0.25], sizes=[4])).round(4)
    array([0.932])

    """

    allows_negative: ClassVar[bool] = True

    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """By the values of scores and labels."""
        out = np.empty(q.n_queries)
        labels = q.source(self.source, allow_negative=True)
        over_queries(_pearsons, q.offsets, q.scores(scores), labels, out)
        return out


@kernel
def _pearsons(first, last, offsets, scores, labels, out):
    for q in range(first, last):
        out[q] = _pearson(scores[offsets[q] : offsets[q + 1]], labels[offsets[q] : offsets[q + 1]])


@inlined_strict_fp
def _pearson(x, y):
    """That of scores x and labels y, of the documents with a label, in two passes.

    Differences from the first one are exact where scores lie close, and 0 where they are equal. The power of two brings
    scores to about 1, so that no square overflows or vanishes; squares of labels, which are float32, do not.
    """
    n, first_known, largest = 0, 0, 0.0
    for i in range(x.size):
        if not np.isnan(y[i]):
            first_known = i if n == 0 else first_known
            n, largest = n + 1, max(largest, abs(x[i]))
    if n < 2:
        return np.nan
    # The means.
    scale = ldexp(1.0, min(-frexp(largest)[1], 1000))
    x_0, y_0 = x[first_known] * scale, np.float64(y[first_known])
    mean_x, mean_y = 0.0, 0.0
    for i in range(x.size):
        mean_x += x[i] * scale - x_0 if not np.isnan(y[i]) else 0.0
        mean_y += y[i] - y_0 if not np.isnan(y[i]) else 0.0
    mean_x, mean_y = mean_x / n, mean_y / n
    # The sums of squares and products.
    xx, xy, yy = 0.0, 0.0, 0.0
    for i in range(x.size):
        dx = x[i] * scale - x_0 - mean_x if not np.isnan(y[i]) else 0.0
        dy = y[i] - y_0 - mean_y if not np.isnan(y[i]) else 0.0
        xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
    return min(max(xy / np.sqrt(xx * yy), -1.0), 1.0) if xx > 0 and yy > 0 else np.nan


class Spearman(Measure):
    r"""Spearman's ρ: Pearson's correlation of the ranks of scores and labels within each query.

    .. math:: \rho = \frac{\sum_i (a_i - \bar a)(b_i - \bar b)}
              {\sqrt{\sum_i (a_i - \bar a)^2} \sqrt{\sum_i (b_i - \bar b)^2}}

    with a_i and b_i the ranks of the score and of the label of document i, those of tied scores or labels averaged
    (Spearman 1904): `scipy.stats.spearmanr` of each query. Labels need not be whole numbers. Documents without a label
    are left out; those that were not retrieved tie below all others. In [−1, 1]; `empty` where all labels or all
    scores are equal.

    Parameters
    ----------
    source : str, default "relevance"
        The label source.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([0.25, 1.5, 0.0, 0.75], sizes=[4])
    >>> Spearman().per_query([0.2, 0.9, 0.3, 0.4], q).round(4)
    array([0.8])

    """

    allows_negative: ClassVar[bool] = True

    source: str = RELEVANCE

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """By the ranks of scores and labels."""
        labels = q.source(self.source, allow_negative=True)
        of_labels = q.memo(("ranks", self.source), lambda: centered_ranks(labels.astype(np.float64), q))
        out = np.empty(q.n_queries)
        over_queries(_spearmans, q.offsets, _rows_by(scores, q), scores, of_labels, out)
        return out


def centered_ranks(values: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
    """The ascending ranks of the `values` of each query less their mean, ties averaged; NaN stays and has no rank.

    >>> centered_ranks(np.array([0.5, 2, 2, np.nan]), Queries([0] * 4, sizes=[4]))
    array([-1. ,  0.5,  0.5,  nan])
    """
    out = np.empty(q.n_documents)
    over_queries(
        _centered_ranks, q.offsets, _rows_by(np.where(np.isnan(values), -np.inf, values), q), values, out
    )
    return out


def _rows_by(scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
    """The rows of each query by score; float64, for which `sort_by_score` is compiled already."""
    return sort_by_score(q.memo("rows", lambda: np.arange(q.n_documents, dtype=np.float64)), scores, q)


@kernel
def _centered_ranks(first, last, offsets, rows, values, out):
    for q in range(first, last):
        in_order = rows[offsets[q] : offsets[q + 1]]
        n, r = 0, 0
        for row in in_order:
            n += not np.isnan(values[np.int64(row)])
        # Values that tie, at ranks start:r, have the mean of these ranks.
        while r < in_order.size:
            start, value = r, values[np.int64(in_order[r])]
            while r < in_order.size and (values[np.int64(in_order[r])] == value or np.isnan(value)):
                r += 1
            for at in range(start, r):
                out[np.int64(in_order[at])] = np.nan if np.isnan(value) else 0.5 * (n - start - r)


@kernel
def _spearmans(first, last, offsets, rows, scores, of_labels, out):
    """Of documents by descending score. Ranks of labels sum to 0, so those of scores need not be centered for xy."""
    for q in range(first, last):
        in_order = rows[offsets[q] : offsets[q + 1]]
        n, cubes, xy, yy, r = 0, 0.0, 0.0, 0.0, 0
        while r < in_order.size:
            tied, y_tied, score = 0, 0.0, scores[np.int64(in_order[r])]
            while r < in_order.size and scores[np.int64(in_order[r])] == score:
                y = of_labels[np.int64(in_order[r])]
                if not np.isnan(y):
                    tied, y_tied, yy = tied + 1, y_tied + y, yy + y * y
                r += 1
            xy -= (n + 0.5 * tied) * y_tied
            n, cubes = n + tied, cubes + float(tied) ** 3
        xx = (float(n) ** 3 - cubes) / 12
        out[q] = xy / np.sqrt(xx * yy) if xx > 0 and yy > 0 else np.nan
