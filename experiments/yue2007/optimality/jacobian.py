"""Whether the λ of a rule are the gradient of a cost, and whether it is convex: `lambda_jacobian`, `loop_work`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost import Queries
from lambdaboost.objectives import Objective

Floats = NDArray[np.float64]

# λ are float32. Five-point derivatives have a truncation error of (σh)⁴/30 and a rounding error of 2e-7/h: least here.
LARGEST_STEP = 0.04
LEAST_STEP = 2e-5  # of the range of the scores; smaller steps vanish in float32
OF_GAP = 0.2  # the outer points are two steps away and must not pass the next document
LEAST_TOLERANCE = 1e-4  # of the largest entry
TOO_ROUGH = 0.02  # relative to the largest entry; with a larger error the result is meaningless
POINTS = 64  # of `loop_work` on each side of a square


@dataclass(frozen=True, eq=False, repr=False)
class LambdaJacobian:
    """The result of `lambda_jacobian`; `str` gives it in words.

    Attributes
    ----------
    objective : Objective
        The rule.
    lam : float64 (n,)
        λ of each document.
    matrix : float64 (n, n)
        ∂λ_i/∂s_j; minus the Hessian of the cost, if there is one.
    error : float
        The error of an entry, estimated with a second step size.

    """

    objective: Objective
    lam: Floats
    matrix: Floats
    error: float

    @property
    def tolerance(self) -> float:
        """Entries up to this size count as 0: four times `error`, and at least 1e-4 of the largest entry."""
        return max(4 * self.error, LEAST_TOLERANCE * float(np.abs(self.matrix).max()))

    @property
    def asymmetry(self) -> float:
        """The largest ``|∂λ_i/∂s_j − ∂λ_j/∂s_i|``."""
        return float(np.abs(self.matrix - self.matrix.T).max())

    @property
    def has_cost(self) -> bool:
        """Whether the matrix is symmetric, so that the λ are locally the gradient of a cost (2006, eq. 5)."""
        return self.asymmetry <= self.tolerance

    @cached_property
    def least_eigenvalue(self) -> float:
        """The least eigenvalue of the Hessian, which is minus the symmetrised matrix."""
        return float(np.linalg.eigvalsh(-(self.matrix + self.matrix.T) / 2)[0])

    @property
    def is_convex(self) -> bool:
        """Whether there is a cost whose Hessian is positive semidefinite here."""
        # An error of ε in each entry changes an eigenvalue of an n × n matrix by about 2√n ε.
        return self.has_cost and self.least_eigenvalue >= -2 * len(self.lam) ** 0.5 * self.tolerance

    @property
    def net_force(self) -> float:
        """``|Σ λ| / Σ |λ|``, the net force on all scores; 0 if all λ are 0."""
        total = np.abs(self.lam).sum()
        return float(abs(self.lam.sum()) / total) if total > 0 else 0.0

    @property
    def is_balanced(self) -> bool:
        """Whether the λ sum to zero in float32 precision."""
        return self.net_force <= 1e-5

    def __repr__(self) -> str:
        what = "a convex cost" if self.is_convex else "a cost" if self.has_cost else "no cost"
        forces = "balanced" if self.is_balanced else "unbalanced"
        return f"LambdaJacobian({self.objective!r}, {len(self.lam)} documents: {what} here, {forces} forces)"

    def __str__(self) -> str:
        lines = [f"{self.objective!r} at {len(self.lam)} documents, as long as they keep their order:"]
        off = f"(off by {self.asymmetry:.1e}, tolerance {self.tolerance:.1e})"
        if self.has_cost:
            lines.append(f"∂λ/∂s is symmetric {off}: here the λ are the gradient of a cost.")
            least = f"(least eigenvalue {self.least_eigenvalue:.1e})"
            lines.append(
                f"Its Hessian is positive semidefinite {least}: the cost is convex here."
                if self.is_convex
                else f"Its Hessian is not positive semidefinite {least}: the cost is not convex."
            )
        else:
            lines.append(f"∂λ/∂s is not symmetric {off}: no cost has these λ.")
        lines.append(
            f"The λ {'sum' if self.is_balanced else 'do not sum'} to zero (|Σ λ| / Σ |λ| = {self.net_force:.1e})."
        )
        return "\n".join(lines)


def lambda_jacobian(
    objective: Objective, scores: ArrayLike, q: Queries, iteration: int = 0
) -> LambdaJacobian:
    r"""Test whether a λ rule has a cost, whether it is convex, and whether λ sum to zero (2006 paper, §4).

    With :math:`\lambda_i = -\partial C/\partial s_i` a cost C exists if and only if
    :math:`\partial\lambda_i/\partial s_j = \partial\lambda_j/\partial s_i` everywhere (eq. 5), and it is convex if and
    only if minus that matrix, its Hessian, is positive semidefinite everywhere. λ that sum to zero do not move the mean
    score.

    **What is tested.** λ rules use the current ranks, so λ jump where two documents swap, and have no derivative there.
    Derivatives here hold for the given order of the documents. Within one order LambdaRank is RankNet with a weight for
    each pair (2007 paper, §3.1), so it has a convex cost; across orders it has none, which `loop_work` shows.
    Derivatives are finite differences of float32 λ, with steps as large as the gaps between scores allow, up to 0.04:
    for scores some hundredths apart they are accurate to about five digits.

    `scores`, finite and all different, are those of the one query of `q`; λ are without weights, at the boosting round
    `iteration`, from 0. A ValueError where scores tie or are too close, or λ jump here for another reason, such as at
    the kink of a hinge.

    Examples
    --------
    >>> from lambdaboost import GradientStep, LambdaRank, Queries, SigmoidLocal
    >>> q, s = Queries([0, 2, 1], sizes=[3]), [3.0, 1.0, -1.0]
    >>> lambda_jacobian(LambdaRank(), s, q)
    LambdaJacobian(LambdaRank(), 3 documents: a convex cost here, balanced forces)
    >>> lambda_jacobian(SigmoidLocal(), s, q)
    LambdaJacobian(SigmoidLocal(), 3 documents: a cost here, balanced forces)
    >>> lambda_jacobian(GradientStep(LambdaRank()), s, q)  # divides by the deviation of all λ
    LambdaJacobian(GradientStep(objective=LambdaRank()), 3 documents: no cost here, balanced forces)

    """
    s = one_query(objective, scores, q, iteration)
    gap = float(np.diff(np.sort(s)).min(initial=np.inf))
    h = min(LARGEST_STEP, OF_GAP * gap)
    if h < LEAST_STEP * max(1.0, np.ptp(s)):
        raise ValueError(
            f"scores are only {gap:.1e} apart, too close for derivatives: give scores some hundredths apart"
        )
    shifts = h * np.array([-2, -1, -0.5, 0.5, 1, 2])
    at = np.stack([[objective.lambdas(s + t * e, q, iteration)[0] for t in shifts] for e in np.eye(s.size)])
    # Axes of `at`: the moved document, the shift, the document of the λ.
    outer, middle, inner = at[:, 5] - at[:, 0], at[:, 4] - at[:, 1], at[:, 3] - at[:, 2]
    matrix = ((8 * middle - outer) / (12 * h)).T
    finer = ((8 * inner - middle) / (6 * h)).T
    error = float(np.abs(matrix - finer).max())
    if error > TOO_ROUGH * np.abs(matrix).max():
        raise ValueError(
            f"λ have no derivative at these scores: two step sizes disagree by {error:.1e}, since scores are only "
            f"{gap:.1e} apart or the rule has a kink here, as hinges have; give other scores"
        )
    return LambdaJacobian(objective, objective.lambdas(s, q, iteration)[0].astype(np.float64), matrix, error)


def loop_work(
    objective: Objective, scores: ArrayLike, q: Queries, side: float = 1.0, iteration: int = 0
) -> Floats:
    r"""The work of λ along a closed square path in the scores of two documents (2006 paper, §4).

    For each pair of documents i and j the score of i rises by `side`, > 0, then that of j; then i falls back, then j.
    If λ are the gradient of a cost, the work is zero:

    .. math:: \oint \lambda \cdot ds = \iint \frac{\partial\lambda_j}{\partial s_i}
        - \frac{\partial\lambda_i}{\partial s_j} = 0.

    Unlike `lambda_jacobian` this includes the jumps of λ where documents swap: non-zero work shows that no cost has
    these λ. Returns float64 (n_documents, n_documents), antisymmetric, accurate to about 1e-5 of ``side · |λ|`` without
    jumps, and to 1e-2 with jumps.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, Queries, RankNet
    >>> q, s = Queries([0, 2, 1], sizes=[3]), [0.5, 0.0, -0.5]
    >>> bool(abs(loop_work(RankNet(), s, q)).max() < 1e-5)
    True
    >>> round(float(abs(loop_work(LambdaRank(), s, q)).max()), 2)
    0.16

    """
    s = one_query(objective, scores, q, iteration)
    n = s.size
    along = (np.arange(POINTS) + 0.5) / POINTS * side

    def work_of(j: int, start: Floats) -> float:
        """The work on j as its score rises by `side`, the others at `start`."""
        there = np.repeat(start[None], POINTS, axis=0)
        there[:, j] += along
        return side * float(np.mean([objective.lambdas(at, q, iteration)[0][j] for at in there]))

    alone = np.array([work_of(j, s) for j in range(n)])
    # The change of the work on j after i has moved.
    gain = np.zeros((n, n))
    for i in range(n):
        moved = s + side * (np.arange(n) == i)
        gain[i] = [work_of(j, moved) - alone[j] if j != i else 0.0 for j in range(n)]
    return gain - gain.T


def one_query(objective: Objective, scores: ArrayLike, q: Queries, iteration: int) -> Floats:
    """The checked scores of the one query of `q`."""
    if q.n_queries != 1:
        raise ValueError(f"q has {q.n_queries} queries: give one, such as q.take([0]), with its scores alone")
    objective.gradient(scores, q, iteration)  # raises for invalid input
    return q.scores(scores)
