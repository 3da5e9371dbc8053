"""`Pearson` and `Spearman`: the correlation of scores, or of their ranks, with labels."""

from __future__ import annotations

from math import frexp, ldexp
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact, inlined_exact, kernel, over_queries, uncounted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import OfSource
from lambdaboost.evaluation.rankings import ranked


class Pearson(OfSource):
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
    reads_scores: ClassVar[bool] = True

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        labels = q.source(self.source, allow_negative=True)
        y = q.memo(("unit labels", self.source), lambda: _all_units(labels.astype(np.float64), labels, q))
        x = _all_units(q.scores(scores), labels, q)
        return np.clip(np.add.reduceat(x * y, q.offsets[:-1]), -1.0, 1.0)


class Spearman(OfSource):
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

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
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
    over_queries(_all_ranks, q.offsets, _rows_by(np.nan_to_num(values, nan=-np.inf), q), values, out)
    return out


def _rows_by(scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
    """The rows of each query by score; float64, for which `ranked` is compiled already."""
    return ranked(q.memo("rows", lambda: np.arange(q.n_documents, dtype=np.float64)), scores, q)


@uncounted
def _ranks(rows, values, out):
    n, r = 0, 0
    for row in rows:
        n += not np.isnan(values[np.int64(row)])
    while r < rows.size:
        start, value = r, values[np.int64(rows[r])]
        while r < rows.size and (values[np.int64(rows[r])] == value or np.isnan(value)):
            r += 1
        for at in range(start, r):
            out[np.int64(rows[at])] = np.nan if np.isnan(value) else 0.5 * (n - start - r)


@kernel
def _all_ranks(first, last, offsets, rows, values, out):
    for q in range(first, last):
        _ranks(rows[offsets[q] : offsets[q + 1]], values, out)


@uncounted
def _spearman(rows, scores, of_labels):
    """Of documents by descending score. Ranks of labels sum to 0, so those of scores need not be centered for xy."""
    n, cubes, xy, yy, r = 0, 0.0, 0.0, 0.0, 0
    while r < rows.size:
        tied, y_tied, score = 0, 0.0, scores[np.int64(rows[r])]
        while r < rows.size and scores[np.int64(rows[r])] == score:
            y = of_labels[np.int64(rows[r])]
            if not np.isnan(y):
                tied, y_tied, yy = tied + 1, y_tied + y, yy + y * y
            r += 1
        xy -= (n + 0.5 * tied) * y_tied
        n, cubes = n + tied, cubes + float(tied) ** 3
    xx = (float(n) ** 3 - cubes) / 12
    return xy / np.sqrt(xx * yy) if xx > 0 and yy > 0 else np.nan


@kernel
def _spearmans(first, last, offsets, rows, scores, of_labels, out):
    for q in range(first, last):
        out[q] = _spearman(rows[offsets[q] : offsets[q + 1]], scores, of_labels)


def _all_units(values: NDArray[np.float64], labels: NDArray[np.float32], q: Queries) -> NDArray[np.float64]:
    out = np.empty(q.n_documents)
    over_queries(_units, q.offsets, values, labels, out)
    return out


@inlined_exact
def _unit(values, labels, out):
    """Less their mean and over the root of their squares; 0 without a label, NaN where all are equal.

    Differences from the first value are exact where values lie close, and 0 where they are constant. The power of two
    keeps every square from overflow.
    """
    n, first, largest = 0, 0.0, 0.0
    for i in range(values.size - 1, -1, -1):
        if not np.isnan(labels[i]):
            n, first, largest = n + 1, values[i], max(largest, abs(values[i]))
    scale = ldexp(1.0, min(-frexp(largest)[1], 1000))
    mean, squares = 0.0, 0.0
    for i in range(values.size):
        out[i] = values[i] * scale - first * scale if not np.isnan(labels[i]) else 0.0
        mean += out[i]
    for i in range(values.size):
        out[i] = out[i] - mean / n if not np.isnan(labels[i]) else 0.0
        squares += out[i] * out[i]
    over = 1 / np.sqrt(squares)
    for i in range(values.size):
        out[i] *= over


@exact
def _units(first, last, offsets, values, labels, out):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        _unit(values[a:b], labels[a:b], out[a:b])
