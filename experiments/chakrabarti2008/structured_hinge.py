"""StructuredHinge: the largest margin violation over all orders of a query."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.chakrabarti2008.hinge import Hinge, Violators
from experiments.chakrabarti2008.inference.dorm import most_violated_assignment
from experiments.chakrabarti2008.inference.orders import most_violated, with_both
from lambdaboost._checks import check_whole, refuse_labels
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import AUC, MAP, MRR, NDCG, Measure
from lambdaboost.objectives.objective import Floats, Needs

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
    queries are on one scale. Documents with a grade of at least the measure's threshold are good, the others bad; those
    without a label are left out. A query without both contributes nothing; a warning reports how many there are.

    Parameters
    ----------
    metric : AUC, MAP, NDCG or MRR
        ``AUC()`` is SVM-AUC, O(n log n); ``MAP()`` SVM-MAP, by Yue et al.'s greedy merge, O(n log n + n⁺n⁻);
        ``NDCG(k)`` SVM-NDCG, O(n log n + k²); ``NDCG()`` SVM-NDCG-NC, O(n log n + n⁺n⁻); ``MRR(k)`` SVM-MRR,
        O(n log n). NDCG has no threshold and takes grades 0 and 1 only. Its discount is the measure's,
        1/log2(1 + r) at rank r from 1, where the paper's counts 1 at the first two ranks.
    feature_map : "po", "mrr" or "dorm", optional
        ``"po"``, pairs of good and bad, over n⁺n⁻ (eq. 3), for all; ``"mrr"``, the bad above the first good (eq. 5),
        for MRR, and its default; ``"dorm"``, documents decayed by rank as 1/√(1 + r), cut at 30 (eq. 6), for NDCG,
        by assignment, with y* the ideal order nearest to the scores.
    clip : int or False, optional
        The rank k at which NDCG and MRR are clipped instead of at the measure's; with False there is no clipping:
        ``StructuredHinge(NDCG(10), clip=False)`` is SVM-NDCG-NC.

    Raises
    ------
    TypeError, ValueError
        Where no inference is known for the measure, or for it with that map or clip; from `gradient`, where grades
        are not binary and the measure has no threshold.

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
    clip: int | bool | None = None

    def __post_init__(self) -> None:
        known = MAPS.get(type(self.metric))
        if known is None:
            names = ", ".join(measure.__name__ for measure in MAPS)
            raise TypeError(f"metric is {self.metric!r}, expected a measure with a known inference: {names}")
        if self.feature_map not in (None, *known):
            raise ValueError(
                f"feature_map is {self.feature_map!r}: for {self.metric!r} inference is known by {' and '.join(known)}"
            )
        if isinstance(self.metric, MAP) and self.metric.k is not None:
            raise ValueError(f"metric is {self.metric!r}: inference for MAP knows no cutoff, leave k out")
        if self.clip is not None:
            self._check_clip()
        gain = getattr(self.metric, "gain", None)
        if isinstance(gain, tuple) and not (len(gain) > 1 and gain[0] == 0 < gain[1]):
            raise ValueError(f"metric is {self.metric!r}: grade 0 must gain 0, and grade 1 more")

    def _check_clip(self) -> None:
        if self.clip is not False:
            remedy = "give a rank ≥ 1, False for none, or None for the measure's"
            check_whole("clip", self.clip, remedy=remedy)
        if isinstance(self.metric, MAP) or not hasattr(self.metric, "k"):
            raise ValueError(f"clip is {self.clip!r}, but {self.metric!r} counts all ranks: leave clip out")

    @property
    def threshold(self) -> float:
        """The lowest grade of a good document."""
        return getattr(self.metric, "threshold", 1)

    @property
    def _map(self) -> FeatureMap:
        return self.feature_map or MAPS[type(self.metric)][0]

    @property
    def _k(self) -> int | None:
        if self.clip is None:
            return getattr(self.metric, "k", None)
        return int(self.clip) or None

    @property
    def needs(self) -> Needs:
        """What the measure reads, and ties by row where the feature map or a cutoff depends on ranks."""
        return replace(super().needs, ties_by_row=self._map != "po" or self._k is not None)

    @property
    def convex(self) -> bool:
        """Whether y* does not depend on the scores; by φ_dorm its good documents are in order of score."""
        return self.feature_map != "dorm"

    def counted(self, q: Queries) -> NDArray[np.bool_]:
        """Which queries have good and bad documents, bool (n_queries,)."""
        self._check_grades(q)
        return with_both(q, self.threshold)

    def violators(self, scores: Floats, q: Queries) -> Violators:
        """The order ŷ of each query, as Δ and φ(ŷ) − φ(y*)."""
        self._check_grades(q)
        if self._map == "dorm":
            return Violators(*most_violated_assignment(scores, q, self._k))
        kind = type(self.metric).__name__ + (" by mrr" if self._map == "mrr" else "")
        return Violators(*most_violated(kind, scores, q, self.threshold, self._k))

    def _check_grades(self, q: Queries) -> None:
        """Refuse grades that are not binary where the measure has no threshold."""
        if hasattr(self.metric, "threshold"):
            return
        labels = q.relevance
        graded = q.memo("not binary", lambda: (labels != 0) & (labels != 1) & ~np.isnan(labels))
        remedy = (
            f"{self!r} takes grades 0 and 1, for {self.metric!r} has no threshold; give binary grades such as "
            "relevance >= 1, or a measure with a threshold, such as MAP()"
        )
        refuse_labels("relevance", labels, graded, remedy)
