"""Spearman's ρ: the correlation of the ranks of scores and of labels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel, no_refcount, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import OfSource
from lambdaboost.evaluation.rankings import ranked


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
    over_queries(_all_ranks, q.offsets, _rows_by(np.where(np.isnan(values), -np.inf, values), q), values, out)
    return out


def _rows_by(scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
    """The rows of each query by score; float64, for which `ranked` is compiled already."""
    return ranked(q.memo("rows", lambda: np.arange(q.n_documents, dtype=np.float64)), scores, q)


@no_refcount
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


@no_refcount
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
