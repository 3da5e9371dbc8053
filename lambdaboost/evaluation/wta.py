"""WTA: winner takes all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.binary import Binary, count_hits


class WTA(Binary):
    r"""Winner takes all: 1 if the top document is relevant, else 0.

    One minus the WTA cost of Burges, Ragno and Le (2006, §2), so that higher is better. `empty` where no
    document is relevant.

    Parameters
    ----------
    threshold : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> WTA().per_query([0.1, 0.3, 0.2, 0.4, 0.5], q).round(4)
    array([0., 0.])

    """

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        return self._over_rankings(count_hits, scores, q, 1)
