"""UnbiasedLambdaRank: LambdaRank corrected by a position bias that it estimates from the clicks."""

from __future__ import annotations

from math import exp, log1p
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from experiments.clicks.sampled_queries import sampled_queries
from lambdaboost import CNDCG, NDCG, Queries
from lambdaboost.clicks import Propensities
from lambdaboost.objectives import Objective
from lambdaboost.objectives.objective import Floats, LambdaMu

LAST_POSITION = 200  # positions from here on share one ratio
SAMPLED_PAIRS = 50_000  # about as many are sampled to estimate the ratios
ALTERNATIONS = 200  # of the alternating minimisation, at most
RATIO_TOLERANCE = 1e-7


class UnbiasedLambdaRank(Objective, registered=False):
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
    metric : NDCG or CNDCG
        The measure Z of the clicks: ``CNDCG()``, or ``NDCG()`` where relevance holds them.
    regularization : float
        The paper's p, ≥ 0, XGBoost's ``lambdarank_bias_norm``: 0 for none, higher for ratios nearer 1.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> q = Queries([1, 0, 0, 1, 1, 0], sizes=[2, 2, 2], position=[1, 2, 1, 2, 1, 2])
    >>> clicked, other = UnbiasedLambdaRank(regularization=0.0).bias([0.0] * 6, q)
    >>> clicked  # two clicks at the first position, one at the second
    Propensities(values=(1.0, 0.5))

    """

    reads_positions = True

    metric: NDCG | CNDCG = NDCG()
    regularization: float = 1.0

    def bias(self, scores: ArrayLike, q: Queries) -> tuple[Propensities, Propensities]:
        """t⁺ and t⁻ by position at these scores, each relative to its largest."""
        plus, minus = self._ratios(q.scores(scores), q)
        return _curve(plus, q), _curve(minus, q)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document, the weight of each pair divided by t⁺ of the better and t⁻ of the worse."""
        plus, minus = self._ratios(scores, q)
        source, found = self.metric.source, np.zeros((2, q.n_documents))
        _add_forces(
            q.offsets, scores, q.source(source), self.metric.normalized_gains(q), self.metric.k or q.n_documents,
            _places(q, source), 1 / plus, 1 / minus, found,
        )  # fmt: skip
        return found[0], found[1]

    def _ratios(self, scores: Floats, q: Queries) -> tuple[Floats, Floats]:
        """t⁺ and t⁻ by position, the first 1."""
        source = self.metric.source
        of, rows = q.memo(
            ("sampled pairs", source), lambda: sampled_queries(q, _n_pairs(q, source), SAMPLED_PAIRS)
        )
        place = _places(q, source)
        costs = np.zeros((int(place.max()) + 1,) * 2)
        if rows is not None:
            scores, place = scores[rows], place[rows]
        _add_costs(
            of.offsets, scores, of.source(source), self.metric.swap_gains(of), self.metric.k or of.n_documents,
            of.query_weight, place, costs,
        )  # fmt: skip
        return _position_ratios(costs, self.regularization)


def _curve(t: Floats, q: Queries) -> Propensities:
    names = q.position_names
    return Propensities(tuple((t / t.max()).tolist()), names=None if names is None else names[: t.size])


def _places(q: Queries, source: str) -> NDArray[np.int32]:
    """The position of each document from 0, at most LAST_POSITION − 1; all with a label need one."""
    position = q.required_position()
    if (~np.isnan(q.source(source)) & (position == 0)).any():
        raise ValueError(f"a row with a label in {source!r} has no position: give NaN as its label")
    return np.clip(position - 1, 0, LAST_POSITION - 1)


def _n_pairs(q: Queries, source: str) -> NDArray[np.int64]:
    """The number of pairs of different labels in each query of a weight above 0."""
    found = np.zeros(q.n_queries, dtype=np.int64)
    _count_pairs(q.offsets, q.source(source), found)
    return np.where(q.query_weight > 0, found, 0)


@njit(cache=True)
def _count_pairs(offsets, labels, found):
    for query in range(offsets.size - 1):
        for i in range(offsets[query], offsets[query + 1]):
            for j in range(offsets[query], offsets[query + 1]):
                found[query] += labels[i] > labels[j]


@njit(cache=True)
def _discounts(scores, k):
    """1/log2(1 + r) of the rank of each document of a query, 0 past k."""
    discount = np.zeros(scores.size)
    for rank, row in enumerate(np.argsort(-scores, kind="mergesort")):
        discount[row] = 1 / np.log2(2.0 + rank) if rank < k else 0.0
    return discount


@njit(cache=True)
def _add_forces(offsets, scores, labels, gains, k, place, up, down, found):
    """Add λ and μ of each pair, |ΔZ| up[place of i] down[place of j] times ρ and ρ(1 − ρ), at i and j."""
    for query in range(offsets.size - 1):
        a, b = offsets[query], offsets[query + 1]
        discount = _discounts(scores[a:b], k)
        for i in range(a, b):
            for j in range(a, b):
                if labels[i] > labels[j]:
                    w = (
                        (gains[i] - gains[j])
                        * abs(discount[i - a] - discount[j - a])
                        * up[place[i]]
                        * down[place[j]]
                    )
                    fall = exp(-abs(scores[i] - scores[j]))
                    rho = fall / (1 + fall) if scores[i] > scores[j] else 1 / (1 + fall)
                    curvature = w * fall / (1 + fall) ** 2
                    found[0, i] += w * rho
                    found[0, j] -= w * rho
                    found[1, i] += curvature
                    found[1, j] += curvature


@njit(cache=True)
def _add_costs(offsets, scores, labels, gains, k, weight, place, costs):
    """Add |ΔZ| log(1 + e^{−(s_i − s_j)}) of each pair, times the weight of its query, at the places of i and j."""
    for query in range(offsets.size - 1):
        a, b = offsets[query], offsets[query + 1]
        discount = _discounts(scores[a:b], k)
        for i in range(a, b):
            for j in range(a, b):
                if labels[i] > labels[j]:
                    swap = (gains[i] - gains[j]) * abs(discount[i - a] - discount[j - a])
                    apart = scores[i] - scores[j]
                    cost = log1p(exp(-abs(apart))) - min(apart, 0.0)
                    costs[place[i], place[j]] += weight[query] * swap * cost


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
