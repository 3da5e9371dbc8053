"""XE-NDCG: the cross-entropy of a softmax and random shares of the gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.evaluation.ranking import longest
from lambdaboost.objectives.base.checks import check_whole
from lambdaboost.objectives.base.objective import Floats, Objective
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.kernels.exp_float64 import FARTHEST, exp_minus_float64
from lambdaboost.objectives.kernels.pair_rule import Derivatives
from lambdaboost.objectives.native.lightgbm_random import MODULUS, repeated, steps, uniform
from lambdaboost.objectives.swaps.of_measure import check_dcg


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class XENDCG(Objective):
    r"""The cross-entropy bound on NDCG (Bruch 2021), LightGBM's ``rank_xendcg``.

    With :math:`\rho_i = e^{s_i} / \sum_j e^{s_j}` the shares of the scores and
    :math:`\varphi_i \propto 2^{l_i} - \gamma_i` those of the grades, :math:`\gamma_i` drawn from [0, 1) for each
    document and round, the cost is :math:`-\sum_i \varphi_i \log \rho_i`. Its gradient is
    :math:`g_i = \rho_i - \varphi_i`, its Hessian :math:`D - O` with :math:`D_{ii} = \rho_i (1 - \rho_i)` and
    :math:`O_{ij} = \rho_i \rho_j`. The engines divide by the diagonal D, so the inverse Hessian's next two terms go
    into λ:

    .. math:: \lambda = -(I + O D^{-1} + (O D^{-1})^2)\,g, \qquad \mu_i = \rho_i (1 - \rho_i).

    The draws are LightGBM's too: on whole grades, trees equal those of ``objective="rank_xendcg"`` with
    ``objective_seed`` equal to `seed` (LightGBM's default is 5). A document without a label (NaN) is left out. A list
    of equal grades contributes noise, since its :math:`\varphi` are not equal.

    Parameters
    ----------
    metric : NDCG or CNDCG
        Label source and gains, :math:`2^l - 1` or others; without a cutoff. A gain of G gives
        :math:`\varphi_i \propto G_i + 1 - \gamma_i`.
    seed : int
        ≥ 0. The draw of a document depends on the seed, the round, its query's row and size, and its row in the query.

    Examples
    --------
    >>> from lambdaboost import Queries, XENDCG
    >>> grad, hess = XENDCG().gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4), hess  # 3 (1/2 − φ), the first two γ of seed 0 being 0.0012 and 0.2513
    (array([ 0.4098, -0.4098], dtype=float32), array([0.25, 0.25], dtype=float32))

    """

    ranks_ties_by_row: ClassVar[bool] = False

    metric: Measure = NDCG()
    seed: int = 0

    def __post_init__(self) -> None:
        check_dcg("metric", self.metric)
        if self.metric.k is not None:  # type: ignore[attr-defined]
            raise ValueError(
                f"metric is {self.metric!r}: shares of a softmax have no cutoff; leave k out, "
                "or choose LambdaLoss or LambdaRank, which truncate"
            )
        check_whole("seed", self.seed, 0)

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return (self.metric.source,)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document at a round."""
        lam, mu = np.empty(q.n_documents, np.float32), np.empty(q.n_documents, np.float32)
        over_queries(
            _queries, q.offsets, iteration, self.seed & MODULUS, q.memo("random steps", lambda: steps(q.sizes.max())),
            scores, q.memo((self.metric, "most before the draw"), lambda: self._most(q)), lam, mu,
        )  # fmt: skip
        return lam, mu

    def _most(self, q: Queries) -> Floats:
        """2^l, from which γ is taken; NaN without a label."""
        gains = self.metric.gains(q)  # type: ignore[attr-defined]
        return np.where(np.isnan(q.source(self.metric.source)), np.nan, gains + 1)


@inlined
def _two_highest(s, most):
    """The highest scored document among those with a label and the score of the next; top < 0 where none is next."""
    top, n = -1, 0
    first = second = -np.inf
    for i in range(s.size):
        if most[i] == most[i]:
            n += 1
            if s[i] > first:
                top, first, second = i, s[i], first
            elif s[i] > second:
                second = s[i]
    return (top if n > 1 else -1), second


@inlined
def _one_query(s, most, state, multiplier, increment, e, phi, ratio, lam, mu):
    """λ and μ of a query; `top` is kept apart, whose 1 − ρ would cancel.

    The others' ρ follow from e = e^{s − second}, zero at the top: their own sum is never 0, however far below.
    """
    top, second = _two_highest(s, most)
    if top < 0:
        lam[:] = 0
        mu[:] = 0
        return
    others, total = 0.0, 0.0
    for i in range(s.size):
        has = most[i] == most[i]
        power = exp_minus_float64(min(max(second - s[i], 0.0), FARTHEST))
        e[i] = power if has and i != top else 0.0
        phi[i] = most[i] - uniform(multiplier[i + 1], increment[i + 1], state) if has else 0.0
        others += e[i]
        total += phi[i]
    fall = exp_minus_float64(min(s[top] - second, FARTHEST))
    of_top = 1 / (1 + fall * others)
    scale = fall * of_top
    first = of_top - phi[top] / total  # the top's terms of λ
    phi[top] = 0
    inverse, inverse_others = 1 / total, 1 / others
    ratios = 0.0
    for i in range(s.size):
        rho = scale * e[i]
        term = rho - inverse * phi[i]
        lam[i] = -np.float32(term)
        ratio[i] = term / (1 - rho)
        ratios += ratio[i]
    next_ratios = 0.0
    for i in range(s.size):
        rho = scale * e[i]
        term = rho * (ratios - ratio[i]) + inverse_others * e[i] * first
        lam[i] -= np.float32(term)
        ratio[i] = term / (1 - rho)
        next_ratios += ratio[i]
    second_term = of_top * ratios
    for i in range(s.size):
        rho = scale * e[i]
        lam[i] -= np.float32(rho * (next_ratios - ratio[i]) + inverse_others * e[i] * second_term)
        mu[i] = rho * (1 - rho)
    lam[top] = -(np.float32(first) + np.float32(second_term) + np.float32(of_top * next_ratios))
    mu[top] = of_top * scale * others


@kernel
def _queries(first, last, offsets, iteration, seed, of_steps, scores, most, lam, mu):
    room = longest(first, last, offsets)
    e, phi, ratio = np.empty(room), np.empty(room), np.empty(room)
    multiplier, increment = of_steps
    size, a_before, c_before = 0, 1, 0
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        if b - a != size:  # all rounds before took this many draws each
            size = b - a
            a_before, c_before = repeated(multiplier[size], increment[size], iteration)
        state = (a_before * (seed + q) + c_before) & MODULUS
        _one_query(
            scores[a:b], most[a:b], state, multiplier, increment, e, phi, ratio, lam[a:b], mu[a:b],
        )  # fmt: skip
