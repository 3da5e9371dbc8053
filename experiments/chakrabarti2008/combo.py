"""Combo: several hinges as one objective, SVM-COMBO."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.chakrabarti2008.hinge import Hinge, Violators
from lambdaboost.datasets import Queries
from lambdaboost.objectives.objective import Floats

Slacks = Literal["separate", "shared"]


class Combo(Hinge, registered=False):
    r"""Several hinges at once (Chakrabarti et al. 2008, §3.7): SVM-COMBO.

    With separate slacks the cost of a query is :math:`\sum_l \xi^l`, one slack for each hinge; with shared slacks it is
    :math:`\max_l \xi^l`, one slack for the constraints of all hinges.

    Parameters
    ----------
    hinges : tuple of Hinge
        Such as ``(StructuredHinge(MAP()), StructuredHinge(NDCG(10)))``.
    slacks : "separate" or "shared"
        One slack for each hinge and query, or one for each query. The paper finds separate ones better.

    Examples
    --------
    >>> from experiments.chakrabarti2008.structured_hinge import StructuredHinge
    >>> from lambdaboost import AUC, MAP, Queries
    >>> both = (StructuredHinge(AUC()), StructuredHinge(MAP()))
    >>> q = Queries([0, 1], sizes=[2])
    >>> Combo(both).per_query([0.0, 0.0], q), Combo(both, slacks="shared").per_query([0.0, 0.0], q)
    (array([1.5]), array([1.]))

    """

    hinges: tuple[Hinge, ...]
    slacks: Slacks = "separate"

    @property
    def convex(self) -> bool:
        """Whether all hinges are."""
        return all(hinge.convex for hinge in self.hinges)

    def counted(self, q: Queries) -> NDArray[np.bool_]:
        """Which queries have constraints of any hinge, bool (n_queries,)."""
        return np.logical_or.reduce([hinge.counted(q) for hinge in self.hinges])

    def violators(self, scores: Floats, q: Queries) -> Violators:
        """The violators of all hinges, added up; or, with shared slacks, of the hinge most violated in each query."""
        found = [hinge.violators(scores, q) for hinge in self.hinges]
        losses = np.array([v.loss for v in found])
        directions = np.array([v.direction for v in found])
        if self.slacks == "separate":
            return Violators(losses.sum(axis=0), directions.sum(axis=0))
        most = np.argmax([v.slacks(scores, q) for v in found], axis=0)
        return Violators(
            losses[most, np.arange(q.n_queries)],
            directions[np.repeat(most, q.sizes), np.arange(q.n_documents)],
        )
