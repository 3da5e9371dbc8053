"""Kendall's τ between a ranking and the preferences of clicks."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import OfSource
from lambdaboost.evaluation.pairs import share_of_pairs


class KendallTau(OfSource):
    r"""Kendall's τ between the ranking and the pairwise preferences of clicks.

    .. math:: \tau = \frac{P - Q}{P + Q}

    with P and Q the numbers of pairs of different label in the right and in the wrong order. Tied labels are in no
    pair, as in Joachims (2002), so a ranking that contradicts no preference has 1: γ of Goodman and Kruskal (1954), and
    Kendall's τ where no labels tie. Documents of equal score rank in input order. Svore, Volkovs and Burges
    (2011, §4.1) prefer CNDCG to τ for its weight on the top. In [−1, 1]; `empty` where no two labels differ.

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

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return 2.0 * share_of_pairs(scores, q, self.source) - 1.0
