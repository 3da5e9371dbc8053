"""`ClickDCG`: the DCG of a ranking, estimated from clicks on another ranking."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_choice, check_number, refuse_labels
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.ndcg import dcg
from lambdaboost.evaluation.rankings import mask_not_retrieved

Estimator = Literal["ips", "snips"]
Floats = NDArray[np.float64]


class ClickDCG(Measure):
    r"""DCG with attraction as gain, estimated from clicks on the lists that were shown (counterfactual evaluation).

    A click c on a row shown at a position with propensity p counts as w = 1/p clicks. With r the rank of a document in
    the ranking that is evaluated and D(r) = 1/log2(1 + r), for each query

    ========= ========================================================================================================
    estimator value
    ========= ========================================================================================================
    "ips"     :math:`\sum_i w_i c_i D(r_i)` (Joachims, Swaminathan and Schnabel 2017, section 4), whose expectation is
              the DCG of the shown rows with P(click | looked at) as gain
    "snips"   the same, divided by the mean of :math:`\sum_i w_i c_i` over the queries, so that the mean of the measure
              is in [0, 1] (self-normalised; Swaminathan and Joachims 2015)
    ========= ========================================================================================================

    `empty` where no row was shown; with "snips", everywhere if there is no click at all.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    propensities : Propensities, optional
        The propensity of each position. None takes all rows as looked at, and reads no positions: the naive estimate,
        which favours the ranking that was shown.
    clip : float, optional
        The highest weight w, ≥ 1: less variance, at the cost of a bias towards rows shown at the top.
    estimator : {"ips", "snips"}
        As above.
    source : str, default "clicks"
        The label source of the clicks of a row, usually 0 or 1; NaN counts as none.

    Raises
    ------
    ValueError
        If there are no positions, one is past the curve, or a row was clicked but not shown.

    Examples
    --------
    >>> from lambdaboost.clicks import Propensities
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([0, 0, 0], sizes=[3], clicks=[1, 0, 1], position=[1, 2, 3])
    >>> ips = ClickDCG(propensities=Propensities([1.0, 0.5, 0.25]))
    >>> ips.per_query([3.0, 2.0, 1.0], q)  # a click at position 3 counts four times
    array([3.])
    >>> ips.per_query([2.0, 1.0, 3.0], q).round(4)
    array([4.6309])

    """

    k: int | None = None
    propensities: Propensities | None = None
    clip: float | None = None
    estimator: Estimator = "ips"
    source: str = "clicks"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.propensities is not None and not isinstance(self.propensities, Propensities):
            raise TypeError(
                f"propensities is {self.propensities!r}: give Propensities((1.0, 0.5, …)), one value for each position"
            )
        check_choice("estimator", self.estimator, Estimator)
        if self.clip is not None:
            remedy = "give the highest weight of a click, a number ≥ 1, or None"
            check_number("clip", self.clip, 1, remedy=remedy)

    @property
    def reads_positions(self) -> bool:
        """Whether propensities are given."""
        return self.propensities is not None

    def values(self, scores: Floats, q: Queries) -> Floats:
        """The DCG with estimated gains."""
        # The gains of documents do not depend on the cutoff.
        gains, counted = q.memo((replace(self, k=None), "click gains"), lambda: self._gains(q))
        values = dcg(scores, mask_not_retrieved(gains, scores, 0.0), q, self.k)
        return np.where(counted, values, np.nan)

    def _gains(self, q: Queries) -> tuple[Floats, NDArray[np.bool_]]:
        """The estimated gain of each document, and whether each query is defined."""
        # A missing label is no click.
        clicks = np.nan_to_num(q.source(self.source).astype(np.float64))
        p = np.ones(q.n_documents)
        if self.propensities is not None:
            p = self.propensities.of(q)
        shown = ~np.isnan(p)
        unseen = ~shown & (clicks > 0)
        remedy = "the row was not shown, so it cannot have been clicked; give its position"
        refuse_labels(self.source, clicks, unseen, remedy)
        weight = np.where(shown, 1 / p, 0.0)
        if self.clip is not None:
            weight = np.minimum(weight, self.clip)
        some_shown = np.logical_or.reduceat(shown, q.offsets[:-1])
        gains = weight * clicks
        if self.estimator == "ips":
            return gains, some_shown
        # Over the same queries as the mean of the measure, of which it is the share.
        of_query = q.query_weight
        if np.isnan(self.empty):
            of_query = of_query * some_shown
        total = float((of_query * np.add.reduceat(gains, q.offsets[:-1])).sum())
        if not total > 0:
            return gains, np.zeros(q.n_queries, dtype=np.bool_)
        return gains * (float(of_query.sum()) / total), some_shown
