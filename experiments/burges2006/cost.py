r"""Section 4: whether the λ of a rule are the gradient of a cost, and whether that is convex.

With :math:`\lambda_i = -\partial C/\partial s_i` a cost exists if and only if ∂λ/∂s is symmetric (eq. 5), and it is
convex if and only if minus that matrix, its Hessian, is positive semidefinite. Derivatives hold for one order of the
documents: λ jump where two of them swap. `loop_work` moves documents past each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.common.report import table
from lambdaboost import GradientStep, LambdaRank, Queries, RankNet, SigmoidLocal
from lambdaboost.objectives import Objective

Floats = NDArray[np.float64]
# λ are float32: five-point derivatives have a truncation error of (σh)⁴/30 and a rounding error of 2e-7/h, least here.
STEP = 0.04
POINTS = 64  # of `loop_work` on each side of a square
SYMMETRIC = 1e-3  # entries up to this share of the largest count as 0
RULES: tuple[Objective, ...] = (RankNet(), LambdaRank(), SigmoidLocal(), GradientStep(LambdaRank()))


def jacobian(objective: Objective, scores: Floats, q: Queries) -> Floats:
    """∂λ_i/∂s_j of one query, float64 (n, n), by differences; scores must be further apart than four steps."""
    shifts = STEP * np.array([-2, -1, 1, 2])
    bound = objective.on(q)
    moved = [[bound(scores + t * e)[0] for t in shifts] for e in np.eye(scores.size)]
    # The moved document, the shift, the document of the λ.
    below_2, below_1, above_1, above_2 = np.moveaxis(np.array(moved, dtype=np.float64), 1, 0)
    return ((8 * (above_1 - below_1) - (above_2 - below_2)) / (12 * STEP)).T


def loop_work(objective: Objective, scores: Floats, q: Queries, side: float = 1.0) -> Floats:
    r"""The work of λ around a square in the scores of each two documents, float64 (n, n); 0 if there is a cost.

    The score of i rises by `side`, then that of j; then i falls back, then j:

    .. math:: \oint \lambda \cdot ds = \iint \frac{\partial\lambda_j}{\partial s_i}
        - \frac{\partial\lambda_i}{\partial s_j} = 0.
    """
    bound, n, along = objective.on(q), scores.size, (np.arange(POINTS) + 0.5) / POINTS * side

    def work_of(j: int, start: Floats) -> float:
        """The work on j as its score rises, the others at `start`."""
        there = start + along[:, None] * (np.arange(n) == j)
        return side * float(np.mean([bound(at)[0][j] for at in there]))

    alone = np.array([work_of(j, scores) for j in range(n)])
    moved = scores + side * np.eye(n)
    gain = np.array(
        [[work_of(j, moved[i]) - alone[j] if j != i else 0.0 for j in range(n)] for i in range(n)]
    )
    return gain - gain.T


def costs_table() -> str:
    """Whether each rule has a cost, at ten documents."""
    rng = np.random.default_rng(2)
    q = Queries(rng.choice(5, p=[0.52, 0.32, 0.13, 0.02, 0.01], size=10), sizes=[10])
    scores, rows = rng.permutation(10) / 4 - 1.0, []
    for rule in RULES:
        slopes = jacobian(rule, scores, q)
        asymmetry = np.abs(slopes - slopes.T).max() / np.abs(slopes).max()
        least = np.linalg.eigvalsh(-(slopes + slopes.T) / 2)[0] / np.abs(slopes).max()
        convex = "–"
        if asymmetry < SYMMETRIC:
            convex = "yes" if least > -SYMMETRIC else "no"
        work = np.abs(loop_work(rule, scores, q)).max() / np.abs(rule.on(q)(scores)[0]).mean()
        symmetric = "yes" if asymmetry < SYMMETRIC else "no"
        rows.append([repr(rule), symmetric, convex, f"{work:.1e}"])
    caption = (
        "At ten documents. A symmetric ∂λ/∂s has a cost in this order of the documents; work around a loop that "
        "changes the order, in mean |λ|, shows that no cost has these λ across orders."
    )
    return table(["Rule", "∂λ/∂s symmetric", "convex", "work around a loop"], rows, caption)
