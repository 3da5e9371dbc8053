"""`KendallTau`: rank correlation with the preferences of clicks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.pair_accuracy import share_of_pairs


@dataclass(frozen=True, repr=False)
class KendallTau(Measure):
    r"""Kendall's τ between the order and the pairwise preferences of clicks.

    .. math:: \tau = \frac{P - Q}{P + Q}

    with P the pairs of different label in the right order and Q those in the wrong one; pairs of equal label
    say nothing, and a tie of scores counts by the input order (Joachims 2002; Svore, Volkovs and Burges 2011,
    §4.1, prefer CNDCG for its weight on the top). In [−1, 1]; undefined where there is no pair.

    Parameters
    ----------
    source : str, default "clicks"
        The label source that the preferences come from.
    empty : float, default 0.0
        What a query without a pair counts as.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([1, 1, 0], sizes=[3], clicks=[0.5, 0.2, 0.1])
    >>> KendallTau().per_query([3.0, 1.0, 2.0], q).round(4)
    array([0.3333])

    """

    source: str = "clicks"
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(source=_checks.source(self.source))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return 2.0 * share_of_pairs(scores, q.source(self.source), q) - 1.0
