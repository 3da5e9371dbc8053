"""InversePropensity: pairs weighted by 1 / propensity of the better document's position."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, refuse_labels, shorten_repr
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.objective import Needs, check_objective
from lambdaboost.objectives.pair_objective import PairObjective


class InversePropensity(PairObjective):
    r"""A pairwise objective with each pair weighted by 1/p, p the propensity at its better document.

    If users examine position k with probability :math:`p_k`, and click on what they examine and like, then the
    expected clicks weighted by :math:`1/p_k` equal those without position bias (Joachims, Swaminathan and Schnabel
    2017). λ and μ of a pair with labels :math:`c_i > c_j` are those of the objective times
    :math:`1/p_{k(i)}`. Where all propensities are 1 it is the objective.

    Only documents with a label above 0 need a position. In a combination wrap the parts:
    ``Blend(LambdaRank(), InversePropensity(ClickTier(), propensities), 0.1)``.

    Parameters
    ----------
    objective : PairObjective
        RankNet, LambdaRank, SigmoidLocal, ClickTier or YetiLoss.
    propensities : Propensities
        The probability that users look at each position.
    clip : float, optional
        The largest weight, ≥ 1: less variance, some bias.

    Examples
    --------
    >>> from lambdaboost import InversePropensity, LambdaRank, Queries
    >>> from lambdaboost.clicks import Propensities
    >>> q = Queries([1, 0, 1, 0], sizes=[2, 2], position=[1, 2, 2, 1])
    >>> p = Propensities((1.0, 0.25))
    >>> grad, hess = InversePropensity(LambdaRank(), p).gradient([0.0, 0.0, 0.0, 0.0], q)
    >>> (grad[2] / grad[0]).round(4)  # a click at the second position counts four times
    np.float32(4.0)

    """

    objective: PairObjective
    propensities: Propensities
    clip: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_objective("objective", self.objective)
        if not isinstance(self.propensities, Propensities):
            raise TypeError(
                f"propensities is {shorten_repr(self.propensities)}, expected Propensities([1, 0.5, …]) of "
                "lambdaboost.clicks"
            )
        if self.clip is not None:
            check_number("clip", self.clip, 1)
        if not isinstance(self.objective, PairObjective) or isinstance(self.objective, InversePropensity):
            raise TypeError(
                f"objective is {self.objective!r}, whose pairs cannot be weighted by propensities: expected RankNet, "
                "LambdaRank, SigmoidLocal, ClickTier or YetiLoss; weight the parts of a combination"
            )

    @property
    def needs(self) -> Needs:
        """What the objective reads, and positions; labels above 0 are clicks."""
        return replace(super().needs, positions=True, allows_negative=False)

    @property
    def rule(self) -> PairRule:
        """The rule of the objective's pairs, with inverse propensities."""
        return replace(self.objective.rule, factors=self.inverse_propensities)

    def inverse_propensities(self, q: Queries) -> NDArray[np.float32]:
        """1/p of each document, 1 without a click, float32 (n_documents,)."""
        # Clicks, each of which needs a position.
        source = self.objective.rule.source
        clicked = q.source(source) > 0
        remedy = "the row has no position; give the position at which it was shown, or NaN as its label"
        refuse_labels(source, q.labels[source], clicked & (q.required_position() == 0), remedy)

        # What they count.
        rows = np.flatnonzero(clicked)
        weight = 1 / self.propensities.of(q, rows)
        if self.clip is not None:
            weight = np.minimum(weight, self.clip)
        factor = np.ones(q.n_documents, dtype=np.float32)
        factor[rows] = weight
        return factor
