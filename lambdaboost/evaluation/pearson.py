"""`Pearson`: linear correlation of scores and labels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.correlation import correlations
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
        return correlations(q.scores(scores), labels.astype(np.float64), q)
