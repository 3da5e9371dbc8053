"""`Pearson`: linear correlation of scores and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._correlation import correlations
from lambdaboost.evaluation.measure import MEASURES, Measure


@MEASURES.add
@dataclass(frozen=True, repr=False)
class Pearson(Measure):
    r"""Pearson's r: the linear correlation of scores and labels within each query.

    .. math:: r = \frac{\sum_i (s_i - \bar s)(l_i - \bar l)}
              {\sqrt{\sum_i (s_i - \bar s)^2} \sqrt{\sum_i (l_i - \bar l)^2}}

    with s_i the score and l_i the label of document i: `scipy.stats.pearsonr` of each query. Labels need not be whole
    numbers. Documents without a label are left out. In [−1, 1]; undefined where all labels or all scores are equal.

    Parameters
    ----------
    source : str, default "relevance"
        The label source.
    empty : float, default 0.0
        The value for a query on which r is undefined.

    Raises
    ------
    ValueError
        If a score is −inf; names its row.

    Notes
    -----
    Labels must be ≥ 0 throughout lambdaboost. Neither r nor `Spearman` changes if labels are shifted: for returns, pass
    ``returns - returns.min()``.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([0.25, 1.5, 0.0, 0.75], sizes=[4])
    >>> Pearson().per_query([0.2, 0.9, 0.3, 0.4], q).round(4)
    array([0.932])

    """

    allows_negative: ClassVar[bool] = True

    source: str = "relevance"
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(source=_checks.source(self.source))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        labels = q.source(self.source, allow_negative=True)
        return correlations(q.scores(scores), labels.astype(np.float64), q)
