"""StructuredHinge: the largest margin violation over all orders of a query."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.chakrabarti2008.hinge import Hinge, Violators
from experiments.chakrabarti2008.inference.dorm import most_violated_assignment
from experiments.chakrabarti2008.inference.orders import most_violated, with_both
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import AUC, MAP, MRR, NDCG, Measure
from lambdaboost.objectives.objective import Floats

FeatureMap = Literal["po", "mrr", "dorm"]
# The feature maps with a known inference for each measure, the default first (2008, §3.1-3.6).
MAPS: dict[type[Measure], tuple[FeatureMap, ...]] = {
    AUC: ("po",),
    MAP: ("po",),
    NDCG: ("po", "dorm"),
    MRR: ("mrr", "po"),
}


class StructuredHinge(Hinge, registered=False):
    r"""The structured hinge of a measure (Chakrabarti, Khanna, Sawant and Bhattacharyya 2008, eqs. 1-2).

    .. math:: \xi = \max_y [s \cdot \phi(y) + \Delta(y^*, y)] - s \cdot \phi(y^*)

    over all orders y of a query, with Δ one minus the measure, and gradient :math:`\phi(\hat y) - \phi(y^*)` at the
    maximum ŷ, found exactly. hess = 1 for every document, since ξ is piecewise linear; wrapped in `GradientStep`, all
    queries are on one scale. Documents of grade 1 are good, those of grade 0 bad; those without a label are left out. A
    query without both contributes nothing; a warning reports how many there are.

    Parameters
    ----------
    metric : AUC, MAP, NDCG or MRR
        ``AUC()`` is SVM-AUC, O(n log n); ``MAP()`` SVM-MAP, O(n log n + n⁺n⁻);
        ``NDCG(k)`` SVM-NDCG, O(n log n + k²); ``NDCG()`` SVM-NDCG-NC, O(n log n + n⁺n⁻); ``MRR(k)`` SVM-MRR,
        O(n log n). The discount of NDCG is the measure's, 1/log2(1 + r) at rank r from 1, where the paper's counts 1 at
        the first two ranks.
    feature_map : "po", "mrr" or "dorm", optional
        ``"po"``, pairs of good and bad, over n⁺n⁻ (eq. 3), for all; ``"mrr"``, the bad above the first good (eq. 5),
        for MRR, and its default; ``"dorm"``, documents decayed by rank as 1/√(1 + r), cut at 30 (eq. 6), for NDCG,
        by assignment, with y* the ideal order nearest to the scores.

    Raises
    ------
    ValueError
        Where no inference is known for the measure, or for it with that map; from `gradient`, where grades are not 0
        and 1.

    Examples
    --------
    >>> from lambdaboost import AUC, Queries
    >>> q = Queries([0, 1, 0], sizes=[3])
    >>> hinge = StructuredHinge(AUC())
    >>> hinge.gradient([0.0, 0.2, -1.0], q)[0]
    array([ 1., -1.,  0.], dtype=float32)
    >>> hinge.per_query([0.0, 0.2, -1.0], q)
    array([0.3])

    """

    metric: AUC | MAP | NDCG | MRR
    feature_map: FeatureMap | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        known = MAPS.get(type(self.metric), ())
        if self.feature_map not in (None, *known) or not known or (known == ("po",) and self._k):
            raise ValueError(
                f"no inference is known for {self.metric!r} with feature_map={self.feature_map!r}: give AUC, MAP "
                f"without k, NDCG or MRR, and one of the maps {', '.join(known)}"
            )

    @property
    def _k(self) -> int | None:
        return getattr(self.metric, "k", None)

    @property
    def convex(self) -> bool:
        """Whether y* does not depend on the scores; by φ_dorm its good documents are in order of score."""
        return self.feature_map != "dorm"

    def counted(self, q: Queries) -> NDArray[np.bool_]:
        """Which queries have good and bad documents, bool (n_queries,)."""
        return with_both(q)

    def violators(self, scores: Floats, q: Queries) -> Violators:
        """The order ŷ of each query, as Δ and φ(ŷ) − φ(y*)."""
        by = self.feature_map or MAPS[type(self.metric)][0]
        if by == "dorm":
            return Violators(*most_violated_assignment(scores, q, self._k))
        kind = type(self.metric).__name__ + (" by mrr" if by == "mrr" else "")
        return Violators(*most_violated(kind, scores, q, self._k))
