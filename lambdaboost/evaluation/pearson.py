"""Pearson's r: the linear correlation of scores with labels."""

from __future__ import annotations

from math import frexp, ldexp
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact, inlined_exact, over_queries
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
        labels = q.source(self.source, allow_negative=True)
        y = q.memo(("unit labels", self.source), lambda: _all_units(labels.astype(np.float64), labels, q))
        x = _all_units(q.scores(scores), labels, q)
        return np.clip(np.add.reduceat(x * y, q.offsets[:-1]), -1.0, 1.0)


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
