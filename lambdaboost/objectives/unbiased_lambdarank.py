"""UnbiasedLambdaRank: LambdaRank corrected by a position bias that it estimates from the clicks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_number, check_positions
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure, PairAccuracy
from lambdaboost.objectives.base.objective import Floats, LambdaMu, Objective
from lambdaboost.objectives.base.sampled_queries import sampled_queries
from lambdaboost.objectives.kernels.levels import levels_of
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.pair_weight import Factors
from lambdaboost.objectives.swaps.registry import check_swap

LAST_POSITION = 200  # positions from here on share one ratio
SAMPLED_PAIRS = 50_000  # about as many are sampled to estimate the ratios
ALTERNATIONS = 200  # of the alternating minimisation, at most
RATIO_TOLERANCE = 1e-7


class UnbiasedLambdaRank(Objective):
    r"""LambdaRank of clicks with dual position bias (Hu, Wang, Peng and Li 2019): Unbiased LambdaMART.

    :math:`\lambda = |\Delta Z|\,\rho / (t^+_k\,t^-_l)` for a better document shown at position k and a worse one at l;
    μ in the same way. The bias ratios :math:`t^+` of clicked and :math:`t^-` of other documents minimise the cost of
    the round's scores,

    .. math:: \sum_{k,l} \frac{C_{kl}}{t^+_k\,t^-_l}, \quad C_{kl} = \sum_{(i, j) \in (k, l)} |\Delta Z|
        \log(1 + e^{-(s_i - s_j)}),

    plus :math:`\lVert t^+ \rVert_p^p + \lVert t^- \rVert_p^p` (eqs. 30-31), by alternating minimisation in every round;
    XGBoost's ``lambdarank_unbiased`` takes one step a round, and ignores the weights of queries in it, which count in C
    here. With more than 50,000 pairs, C is computed on a fixed sample of queries.

    Parameters
    ----------
    metric : Measure
        The measure Z of the clicks, any that `LambdaRank` takes except PairAccuracy, such as ``CNDCG()``, or
        ``NDCG()`` where relevance holds them.
    regularization : float
        The paper's p, ≥ 0, XGBoost's ``lambdarank_bias_norm``: 0 for none, higher for ratios nearer 1.

    Examples
    --------
    >>> from lambdaboost import Queries, UnbiasedLambdaRank
    >>> q = Queries([1, 0, 0, 1, 1, 0], sizes=[2, 2, 2], position=[1, 2, 1, 2, 1, 2])
    >>> clicked, other = UnbiasedLambdaRank(regularization=0.0).bias([0.0] * 6, q)
    >>> clicked  # two clicks at the first position, one at the second
    Propensities(values=(1.0, 0.5))

    """

    reads_positions: ClassVar[bool] = True

    metric: Measure = NDCG()
    regularization: float = 1.0

    def __post_init__(self) -> None:
        check_swap("metric", self.metric)
        if isinstance(self.metric, PairAccuracy):
            raise TypeError(
                f"metric is {self.metric!r}, whose pair weights need more than two ranks: choose another measure"
            )
        check_number("regularization", self.regularization, 0)

    def bias(self, scores: ArrayLike, q: Queries) -> tuple[Propensities, Propensities]:
        """t⁺ and t⁻ by position at these scores, each relative to its largest."""
        plus, minus = self._ratios(q.scores(scores), q)
        return _curve(plus, q), _curve(minus, q)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document."""
        # Not a `rule`: its factors belong to these scores, so it cannot be a part of another rule.
        return PairRule(self.metric.source, self.metric, factors=self).lambdas(scores, q)

    def of(self, scores: Floats, q: Queries) -> Factors:
        """1/t⁺ of the better document of a pair and 1/t⁻ of the worse, the factors of its weight."""
        plus, minus = self._ratios(scores, q)
        place = _places(q, self.metric.source)
        return Factors((1 / plus).astype(np.float32)[place], (1 / minus).astype(np.float32)[place])

    def _ratios(self, scores: Floats, q: Queries) -> tuple[Floats, Floats]:
        """t⁺ and t⁻ by position, the first 1."""
        source = self.metric.source
        of, rows = q.memo(
            ("sampled pairs", source), lambda: sampled_queries(q, _pairs(q, source), SAMPLED_PAIRS)
        )
        place = _places(q, source)
        n_places = int(place.max()) + 1
        if rows is not None:
            scores, place = scores[rows], place[rows]
        costs = PairRule(source, self.metric).costs(scores, of, place, n_places)
        return _position_ratios(costs, self.regularization)


def _curve(t: Floats, q: Queries) -> Propensities:
    names = q.position_names
    return Propensities(tuple((t / t.max()).tolist()), names=None if names is None else names[: t.size])


def _places(q: Queries, source: str) -> NDArray[np.int32]:
    """The position of each document from 0, at most LAST_POSITION − 1; all with a label have one."""

    def build() -> NDArray[np.int32]:
        check_positions(q, source, ~np.isnan(q.source(source, allow_negative=True)))
        position = q.required_position()
        return np.clip(position - 1, 0, LAST_POSITION - 1)

    found: NDArray[np.int32] = q.memo(("places", source), build)
    return found


def _pairs(q: Queries, source: str) -> Floats:
    """The number of pairs of different labels in each query of a weight above 0."""
    return np.where(q.query_weight > 0, levels_of(q, source).pairs(), 0.0)


def _position_ratios(costs: Floats, regularization: float) -> tuple[Floats, Floats]:
    r"""t⁺ and t⁻ of each place from the costs of pairs (Hu et al. 2019, eqs. 30-31), by alternating minimisation.

    .. math:: t^+_k \propto \Big(\sum_l C_{kl} / t^-_l\Big)^{1/(1+p)}, \quad
        t^-_l \propto \Big(\sum_k C_{kl} / t^+_k\Big)^{1/(1+p)}

    The first place with a cost has ratio 1; places without one are interpolated.
    """
    power = 1 / (1 + regularization)
    known = costs.sum(axis=1) > 0, costs.sum(axis=0) > 0
    t = [np.ones(len(costs)), np.ones(len(costs))]
    for _ in range(ALTERNATIONS):
        before = np.concatenate(t)
        for side, of in ((0, costs), (1, costs.T)):
            t[side] = _relative((of @ (1 / t[1 - side])) ** power, known[side])
        if np.abs(np.concatenate(t) / before - 1).max() <= RATIO_TOLERANCE:
            break
    return t[0], t[1]


def _relative(t: Floats, known: NDArray[Any]) -> Floats:
    """Ratios relative to the first known one, interpolated where unknown."""
    if not known.any():
        return np.ones(t.size)
    at = np.flatnonzero(known)
    # Where all pairs are in perfect order, costs may underflow.
    with np.errstate(over="ignore"):
        ratios = np.minimum(t[at] / t[at[0]], 1e6)
    filled: Floats = np.maximum(np.interp(np.arange(t.size), at, ratios), 1e-6)
    return filled
