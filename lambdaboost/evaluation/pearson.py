"""Pearson's r: the linear correlation of scores with labels."""

from __future__ import annotations

from math import frexp, ldexp
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined_strict_fp, over_queries, strict_fp_no_refcount
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import OfSource


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
        out = np.empty(q.n_queries)
        labels = q.source(self.source, allow_negative=True)
        over_queries(_pearsons, q.offsets, q.scores(scores), labels, out)
        return out


@inlined_strict_fp
def _pearson(x, y):
    """Of the documents with a label.

    Differences from the first one are exact where scores lie close, and 0 where they are equal. The power of two brings
    scores to about 1, so that no square overflows or vanishes; squares of labels, which are float32, do not.
    """
    n, first, largest = 0, 0, 0.0
    for i in range(x.size):
        if not np.isnan(y[i]):
            first = i if n == 0 else first
            n, largest = n + 1, max(largest, abs(x[i]))
    if n < 2:
        return np.nan
    scale = ldexp(1.0, min(-frexp(largest)[1], 1000))
    x_0, y_0 = x[first] * scale, np.float64(y[first])
    mean_x, mean_y = 0.0, 0.0
    for i in range(x.size):
        mean_x += x[i] * scale - x_0 if not np.isnan(y[i]) else 0.0
        mean_y += y[i] - y_0 if not np.isnan(y[i]) else 0.0
    mean_x, mean_y = mean_x / n, mean_y / n
    xx, xy, yy = 0.0, 0.0, 0.0
    for i in range(x.size):
        dx = x[i] * scale - x_0 - mean_x if not np.isnan(y[i]) else 0.0
        dy = y[i] - y_0 - mean_y if not np.isnan(y[i]) else 0.0
        xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
    return min(max(xy / np.sqrt(xx * yy), -1.0), 1.0) if xx > 0 and yy > 0 else np.nan


@strict_fp_no_refcount
def _pearsons(first, last, offsets, x, y, out):
    for q in range(first, last):
        out[q] = _pearson(x[offsets[q] : offsets[q + 1]], y[offsets[q] : offsets[q + 1]])
