"""ClickTier: the second tier of a graded measure, which orders documents that tie in the tiers above."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from lambdaboost._checks import check_choice, check_sigma, check_tuple
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation import CNDCG, NDCG
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.pair_objective import PairObjective
from lambdaboost.objectives.swaps.dcg import check_dcg

Zeros = Literal["label", "missing"]


class ClickTier(PairObjective):
    r"""The λ-gradient λ^C of a lower tier (2011 paper, §4.2): pairs that tie in every tier above.

    For documents equal in every source of `within`, with labels :math:`c_i > c_j` in `source`:
    :math:`\lambda = \sigma\,|\Delta CNDCG|\,\rho`, :math:`\rho = 1/(1 + e^{\sigma(s_i - s_j)})`, and
    :math:`\mu = \sigma^2\,|\Delta CNDCG|\,\rho(1-\rho)`. A document whose label is missing (NaN) is in no pair. The
    paper also leaves out documents without a click, :math:`c_i > c_j > 0`, because they may not have been seen (§4.2);
    that is ``zeros="missing"``, for click rates of many sessions. A column of 0 and 1 would have no pair at all then.

    If no document of a query has a label in a source of `within`, all its documents tie in that source. In other
    queries a document without that label is in no pair.

    Parameters
    ----------
    metric : CNDCG or NDCG
        The measure whose change by a swap weights a pair, on the labels of `source`. ``CNDCG()`` is that of `source`;
        any other has to name the same source, such as ``ClickTier(CNDCG(k=3, source="sales"), "sales")``. NDCG reads
        the grades, for a tier of grades below another source:
        ``ClickTier(NDCG(), "relevance", within=("clicks",))``.
    source : str
        The label source of this tier.
    within : tuple of str
        The sources of the tiers above; a third tier has ``within=("relevance", "clicks")``.
    sigma : float
        Steepness of the logistic, > 0.
    zeros : "label" or "missing"
        What a label of 0 in `source` is: a label like any other, or none, as in the paper.

    Examples
    --------
    >>> from lambdaboost import ClickTier, Queries
    >>> q = Queries([1, 1, 0], sizes=[3], clicks=[0.2, 0.4, 0.9])
    >>> grad, hess = ClickTier().gradient([0.0, 0.0, 0.0], q)
    >>> bool(grad[0] > 0), bool(grad[1] < 0), float(grad[2])  # the third ties with no other
    (True, True, 0.0)
    >>> q = Queries([1, 1], sizes=[2], clicks=[0, 1])
    >>> [ClickTier(zeros=zeros).gradient([0.0, 0.0], q)[0].any() for zeros in ("label", "missing")]
    [np.True_, np.False_]

    """

    metric: CNDCG | NDCG = CNDCG()
    source: str = "clicks"
    within: tuple[str, ...] = (RELEVANCE,)
    sigma: float = 1.0
    zeros: Zeros = "label"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dcg("metric", self.metric)
        check_sigma(self.sigma)
        check_choice("zeros", self.zeros, Zeros)
        check_tuple("within", self.within, "('relevance',)")
        if self.source in self.within:
            raise ValueError(
                f"source {self.source!r} is also in within={self.within}: documents cannot both tie and differ in it"
            )
        # CNDCG() stands for that of the source. Any other metric is never changed, so it has to read that source.
        if self.metric == CNDCG():
            object.__setattr__(self, "metric", CNDCG(source=self.source))
        if self.metric.source != self.source:
            remedy = f"leave metric out, or give metric=CNDCG(source={self.source!r})"
            if isinstance(self.metric, CNDCG):
                matching = replace(self.metric, source=self.source)
                remedy = f"give source={self.metric.source!r}, or metric={matching!r}"
            raise ValueError(
                f"metric {self.metric!r} reads {self.metric.source!r}, not the source {self.source!r}: {remedy}"
            )

    @property
    def rule(self) -> PairRule:
        """The pairs, swap and force."""
        return PairRule(self.source, self.metric, self.within, self.zeros == "missing", self.sigma)
