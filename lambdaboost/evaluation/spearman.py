"""`Spearman`: rank correlation of scores and labels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.correlation import centered_ranks, correlations
from lambdaboost.evaluation.measure import OfSource


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
        of_scores = centered_ranks(np.where(np.isnan(labels), np.nan, scores), q)
        return correlations(of_scores, of_labels, q)
