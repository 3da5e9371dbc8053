"""The pairwise hinge: RankSVM."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.chakrabarti2008.hinge import Hinge, Violators
from experiments.chakrabarti2008.inference.orders import BAD, GOOD, classes, most_violated, with_both
from lambdaboost.datasets import Queries
from lambdaboost.objectives.objective import Floats


class PairwiseHinge(Hinge, registered=False):
    r"""The hinge of all pairs of a good and a bad document: RankSVM (Herbrich et al. 1999; Joachims 2002, 2006).

    .. math:: \xi = \sum_{g, b} \max(0, 1 - (s_g - s_b))

    of a query: each pair within the margin pulls its documents apart with force 1. Grades are 0 and 1; documents
    without a label are in no pair.

    The structured hinge of AUC is :math:`\frac{2}{n^+n^-} \sum \max(0, \frac12 - (s_g - s_b))`, so this is
    :math:`n^+n^-` times that hinge at half of the scores.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> PairwiseHinge().gradient([0.0, 0.5, 2.0], Queries([0, 1, 1], sizes=[3]))[0]
    array([ 1., -1.,  0.], dtype=float32)

    """

    def violators(self, scores: Floats, q: Queries) -> Violators:
        """How many pairs of each query are within the margin, and the sum of their pulls."""
        good, bad = (
            np.add.reduceat(classes(q) == which, q.offsets[:-1], dtype=float) for which in (GOOD, BAD)
        )
        loss, direction = most_violated("AUC", scores / 2, q, None)
        return Violators(good * bad * loss, np.repeat(good * bad, q.sizes) * direction / 2)

    def counted(self, q: Queries) -> NDArray[np.bool_]:
        """Which queries have pairs, bool (n_queries,)."""
        return with_both(q)
