"""The pairwise hinge: RankSVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.hinge import Hinge
from lambdaboost.objectives.base.objective import Floats
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.inference.pairs import pair_violators, pairs_of_documents
from lambdaboost.objectives.inference.violators import Violators


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class PairwiseHinge(Hinge):
    r"""The hinge of all pairs of different grades: RankSVM (Herbrich et al. 1999; Joachims 2002, 2006).

    .. math:: \xi = \sum_{l_i > l_j} \max(0, 1 - (s_i - s_j))

    of a query: each pair within the margin pulls its documents apart with force 1. O(n log n) for any number of grades,
    by sorting and counting. hess is the number of pairs of the document, so that a leaf's step is a mean force.
    Documents without a label are in no pair.

    Examples
    --------
    >>> from lambdaboost import PairwiseHinge, Queries
    >>> PairwiseHinge().gradient([0.0, 0.5, 2.0], Queries([0, 1, 2], sizes=[3]))
    (array([ 1., -1.,  0.], dtype=float32), array([2., 2., 2.], dtype=float32))

    """

    ranks_ties_by_row: ClassVar[bool] = False

    def violators(self, scores: Floats, q: Queries) -> Violators:
        """How many pairs of each query are within the margin, and the sum of their pulls."""
        return pair_violators(scores, q)

    def curvature(self, q: Queries) -> Floats:
        """The number of each document's pairs."""
        return pairs_of_documents(q)

    def counted(self, q: Queries) -> NDArray[np.bool_]:
        """Which queries have pairs, bool (n_queries,)."""
        return np.maximum.reduceat(self.curvature(q), q.offsets[:-1]) > 0
