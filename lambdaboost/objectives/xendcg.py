"""XE-NDCG: the cross-entropy of a softmax and random shares of the gains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lambdaboost._checks import check_whole
from lambdaboost._jit import inlined, kernel, over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, NDCG
from lambdaboost.evaluation.rankings import longest
from lambdaboost.objectives.kernels.elementary import exp_minus_float64
from lambdaboost.objectives.kernels.prepared import Round
from lambdaboost.objectives.kernels.sigmoid import FLOAT64_NORMAL
from lambdaboost.objectives.objective import LambdaFunction, LambdaMu, Needs, Objective
from lambdaboost.objectives.swaps.dcg import check_dcg


class XENDCG(Objective):
    r"""The cross-entropy bound on NDCG (Bruch 2021), LightGBM's ``rank_xendcg``.

    .. math:: -\sum_i \varphi_i \log \rho_i, \qquad \rho_i = \frac{e^{s_i}}{\sum_j e^{s_j}}, \qquad
        \varphi_i = \frac{2^{l_i} - \gamma_i}{\sum_j (2^{l_j} - \gamma_j)}

    with :math:`\gamma_i` drawn from [0, 1) for each document and round. The gradient is
    :math:`g_i = \rho_i - \varphi_i`, the Hessian :math:`D - O` with :math:`D_{ii} = \rho_i (1 - \rho_i)` on the
    diagonal and :math:`O_{ij} = \rho_i \rho_j` off it. A Newton step of a tree divides by D alone, so λ has the next
    two terms of the inverse Hessian's series:

    .. math:: \lambda = -(I + O D^{-1} + (O D^{-1})^2)\,g, \qquad \mu_i = \rho_i (1 - \rho_i).

    On whole grades the trees are those of ``objective="rank_xendcg"`` with the same ``objective_seed``, whose default
    is 5. Documents without a label (NaN) are left out. A list of equal grades contributes noise alone, since its
    :math:`\varphi_i` differ.

    Parameters
    ----------
    metric : NDCG or CNDCG
        Label source and gains, without a cutoff: a gain of G takes the place of :math:`2^l - 1`.
    seed : int
        ≥ 0. The draws of a query depend on the seed, the round, its size and its place among the queries only.

    Examples
    --------
    >>> from lambdaboost import Queries, XENDCG
    >>> grad, hess = XENDCG().gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4), hess  # 1/2 − φ of documents whose γ are 0.0012 and 0.2356
    (array([ 0.1385, -0.1385], dtype=float32), array([0.25, 0.25], dtype=float32))

    """

    metric: NDCG | CNDCG = NDCG()
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dcg("metric", self.metric)
        if self.metric.k is not None:
            raise ValueError(
                f"metric is {self.metric!r}: shares of a softmax have no cutoff; leave k out, "
                "or choose LambdaLoss or LambdaRank, which truncate"
            )
        check_whole("seed", self.seed, 0)

    @property
    def needs(self) -> Needs:
        """Ties count alike."""
        return replace(super().needs, ties_by_row=False)

    def prepare(self, q: Queries) -> LambdaFunction:
        """Cross-entropies with the shares of the gains, drawn anew each round."""
        offsets, seed = q.offsets, self.seed
        # G + 1, from which γ is taken; NaN without a label.
        gains = np.where(np.isnan(q.source(self.metric.source)), np.nan, self.metric.gains(q) + 1)

        def lambda_mu(now: Round) -> LambdaMu:
            lam, mu = np.empty((2, now.scores.size), np.float32)
            # The generator's numbers repeat after 2^32 rounds.
            over_queries(_xendcg_kernel, offsets, now.iteration & MASK, seed, now.scores, gains, lam, mu)
            return lam, mu

        return lambda_mu


# γ is LightGBM's: bits 16 to 30 of the generator x ← a x + c modulo 2^32 that C compilers call rand, seeded for each
# query by the objective's seed plus the query's number. Each round takes a draw a document.
MULTIPLIER, INCREMENT = 214013, 2531011  # a and c
MASK = 2**32 - 1  # x & MASK is x modulo 2^32; products wrap around in int64, which loses none of these bits
TOGETHER = 512  # documents of short lists that share one pass of exponentials, which fills vector lanes


@inlined
def _jump(steps):
    """The a and c of the step that does as many steps of the generator at once, by squaring."""
    power, add, a, c = np.int64(MULTIPLIER), np.int64(INCREMENT), np.int64(1), np.int64(0)
    while steps > 0:
        if steps & 1:
            a, c = (power * a) & MASK, (power * c + add) & MASK
        add = (power * add + add) & MASK
        power = (power * power) & MASK
        steps >>= 1
    return a, c


@inlined
def _draw(gains, state, phi):
    """Write 2^l − γ of each document; 0 without a label."""
    for i in range(gains.size):
        state = np.uint32(np.uint32(MULTIPLIER) * state + np.uint32(INCREMENT))
        gamma = np.int32(np.uint32(state >> np.uint32(16)) & np.uint32(0x7FFF)) / 32768
        phi[i] = gains[i] - gamma if gains[i] == gains[i] else 0.0


@inlined
def _distances_from_second(s, gains, below):
    """Write how far each score is from the second highest, at most `FLOAT64_NORMAL`, of documents with a label.

    The highest scored of them, or -1 where there are not two.
    """
    top = -1
    first = second = -np.inf
    for i in range(s.size):  # without branches, which short lists would mispredict
        x = s[i] if gains[i] == gains[i] else -np.inf
        top = i if x > first else top
        second = max(second, min(first, x))
        first = max(first, x)
    if second == -np.inf:
        below[:] = FLOAT64_NORMAL
        return -1
    for i in range(s.size):
        below[i] = min(second - s[i], FLOAT64_NORMAL) if gains[i] == gains[i] else FLOAT64_NORMAL
    below[top] = min(first - second, FLOAT64_NORMAL)
    return top


@inlined
def _write_lambdas(top, e, phi, ratio, inverse_rest, lam, mu):
    """λ and μ of a query of two documents or more; `top`, whose 1 − ρ would cancel, is kept apart.

    With s' the second highest score, e is e^{s − s'} of every other document, whose sum is at least 1 however far below
    the top they are, and e^{s' − s} of the top. Terms are added in float32, one after the other, as in LightGBM.
    """
    # ρ of the others is `scale` e, and φ is `inverse` times 2^l − γ.
    fall, phi_top = e[top], phi[top]
    e[top] = phi[top] = 0
    others, total = 0.0, phi_top
    for i in range(e.size):
        others += e[i]
        total += phi[i]
    rho_top = 1 / (1 + fall * others)
    scale, share, inverse = fall * rho_top, 1 / others, 1 / total

    # First terms, g. A ratio is D⁻¹ g without the factor ρ, which O brings: g_i / (1 − ρ_i).
    first_top, ratios = rho_top - phi_top * inverse, 0.0
    for i in range(e.size):
        rho = scale * e[i]
        term = rho - inverse * phi[i]
        inverse_rest[i] = 1 / (1 - rho)
        ratio[i] = term * inverse_rest[i]
        ratios += ratio[i]
        lam[i] = -np.float32(term)
    lam[top] = -np.float32(first_top)

    # Second terms, O D⁻¹ g: ρ_i times the ratios of all documents but i. The top's own ratio is its first term over
    # 1 − ρ_top, and ρ_i / (1 − ρ_top) is `share` e.
    second_top, next_ratios = rho_top * ratios, 0.0
    for i in range(e.size):
        term = scale * e[i] * (ratios - ratio[i]) + share * e[i] * first_top
        ratio[i] = term * inverse_rest[i]
        next_ratios += ratio[i]
        lam[i] -= np.float32(term)
    lam[top] -= np.float32(second_top)

    # Third terms, (O D⁻¹)² g, in the same way.
    for i in range(e.size):
        rho = scale * e[i]
        lam[i] -= np.float32(rho * (next_ratios - ratio[i]) + share * e[i] * second_top)
        mu[i] = rho * (1 - rho)
    lam[top] -= np.float32(rho_top * next_ratios)
    mu[top] = rho_top * scale * others


@kernel
def _xendcg_kernel(first, last, offsets, iteration, seed, scores, gains, lam, mu):
    """λ and μ of queries first:last; short lists in groups, whose exponentials are one loop."""
    room = max(longest(first, last, offsets), TOGETHER)
    e, phi, ratio, inverse_rest = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    top = np.empty(TOGETHER, np.int64)
    size, power, add = 0, np.int64(1), np.int64(0)
    start = first
    while start < last:
        # Queries start:end together have up to TOGETHER documents, or are one longer list.
        before = offsets[start]
        end = start
        while end < last and (end == start or offsets[end + 1] - before <= TOGETHER):
            a, b = offsets[end], offsets[end + 1]
            top[end - start] = _distances_from_second(scores[a:b], gains[a:b], e[a - before : b - before])
            # The generator after the draws of all rounds before.
            if b - a != size:
                size = b - a
                power, add = _jump(iteration * size)
            state = np.uint32((power * (seed + end) + add) & MASK)
            _draw(gains[a:b], state, phi[a - before : b - before])
            end += 1
        for i in range(offsets[end] - before):
            e[i] = exp_minus_float64(e[i])
        for q in range(start, end):
            a, b = offsets[q], offsets[q + 1]
            if top[q - start] < 0:
                lam[a:b] = mu[a:b] = 0
                continue
            here = slice(a - before, b - before)
            _write_lambdas(
                top[q - start], e[here], phi[here], ratio[here], inverse_rest[here], lam[a:b],
                mu[a:b],
            )  # fmt: skip
        start = end
