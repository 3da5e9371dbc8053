"""Linear rankers with a margin, by the cutting plane method with one slack (Joachims, Finley and Yu 2009)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.chakrabarti2008.hinge import Hinge
from lambdaboost.datasets import Queries

Floats = NDArray[np.float64]
IDLE = 10  # consecutive solutions in which a cut has weight 0 before it is dropped


class Cut(NamedTuple):
    """A tangent of the risk: R(w) ≥ value + slope·w, with equality where it was made."""

    value: float
    slope: Floats


class Solution(NamedTuple):
    """The w of the smallest objective ½‖w‖² + C R(w), with the mean slack R(w)."""

    w: Floats
    risk: float
    objective: float
    gap: float  # the duality gap: the most by which the objective is above its minimum
    n_iter: int  # cuts made
    converged: bool  # whether no constraint is violated by more than ε


def linear_ranker(
    hinge: Hinge, X: Floats, q: Queries, C: float, epsilon: float = 1e-3, max_iter: int = 1000
) -> Solution:
    r"""Scores s = X w that minimise :math:`\frac12\|w\|^2 + \frac{C}{|Q|}\sum_q \xi_q` (2008, eq. 1).

    ξ_q is the slack of a query by a hinge: ``StructuredHinge(AUC())`` is SVM-AUC, ``StructuredHinge(MAP())`` SVM-MAP,
    ``StructuredHinge(NDCG(10))`` SVM-NDCG, `Combo` SVM-COMBO, `PairwiseHinge` RankSVM; |Q| are the queries that have
    constraints. There is no intercept, since it would not change the order. Scale the features first.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 1.0]])
    >>> from experiments.chakrabarti2008.structured_hinge import StructuredHinge
    >>> from lambdaboost import AUC
    >>> w = linear_ranker(StructuredHinge(AUC()), X, Queries([0, 1, 0, 1], sizes=[2, 2]), C=10).w
    >>> bool(np.diff(X @ w)[0] > 0)
    True

    """
    n_counted = np.count_nonzero(hinge.counted(q))
    if not n_counted:
        raise ValueError(f"no query has documents that {hinge!r} distinguishes, so there is nothing to learn")

    def cut_at(w: Floats) -> Cut:
        loss, direction = hinge.violators(X @ w, q)
        return Cut(float(loss.sum()) / n_counted, X.T @ direction / n_counted)

    return cutting_plane(cut_at, X.shape[1], C, epsilon, max_iter)


def cutting_plane(
    cut_at: Callable[[Floats], Cut], n_features: int, C: float, epsilon: float, max_iter: int
) -> Solution:
    r"""Minimise :math:`\frac12\|w\|^2 + C\,R(w)` for a convex risk R ≥ 0, given its tangents.

    Each step solves the dual of the problem with the cuts so far in place of R,
    :math:`\max_\beta C\,v\cdot\beta - \frac12 C^2 \|\sum_i\beta_i a_i\|^2` for β ≥ 0 and Σβ ≤ 1, so
    :math:`w = -C\sum_i\beta_i a_i`; then it adds a cut at w. It stops when R(w) is within ε of the
    maximum ξ of the cuts: then no constraint is violated by more than ε, and the gap is at most C ε.
    """
    values, slopes, gram = np.zeros(0), np.zeros((0, n_features)), np.zeros((0, 0))
    idle = np.zeros(0, dtype=int)
    w, xi, bound = np.zeros(n_features), 0.0, 0.0
    for n_iter in range(1, max_iter + 1):
        cut = cut_at(w)
        risk = cut.value + float(cut.slope @ w)
        if risk - xi <= epsilon or n_iter == max_iter:
            break
        row = slopes @ cut.slope
        gram = np.block([[gram, row[:, None]], [row[None, :], np.array([[cut.slope @ cut.slope]])]])
        values, slopes, idle = (
            np.append(values, cut.value),
            np.vstack([slopes, cut.slope]),
            np.append(idle, 0),
        )
        beta = simplex_weights(C * gram, values)
        w = -C * (beta @ slopes)
        xi = max(0.0, float((values + slopes @ w).max()))
        bound = max(bound, C * float(values @ beta) - 0.5 * float(w @ w))
        idle = np.where(beta > 1e-8, 0, idle + 1)
        kept = idle < IDLE
        values, slopes, idle, gram = values[kept], slopes[kept], idle[kept], gram[np.ix_(kept, kept)]
    objective = 0.5 * float(w @ w) + C * risk
    return Solution(w, risk, objective, objective - bound, n_iter, risk - xi <= epsilon)


def simplex_weights(gram: Floats, values: Floats) -> Floats:
    r"""β that maximises :math:`v \cdot \beta - \frac12 \beta^\top G \beta` with β ≥ 0 and :math:`\sum\beta \le 1`.

    Feasible up to rounding, whatever the solver's tolerance.
    """
    import clarabel  # type: ignore[import-untyped]
    from scipy import sparse

    n = values.size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    constraints = sparse.vstack([-sparse.eye(n), np.ones((1, n))], format="csc")
    bounds = np.append(np.zeros(n), 1.0)
    cones = [clarabel.NonnegativeConeT(n + 1)]
    program = sparse.csc_matrix(np.triu(gram)), -values, constraints, bounds, cones, settings
    solution = clarabel.DefaultSolver(*program).solve()
    weights = np.maximum(np.array(solution.x), 0.0)
    if not np.isfinite(weights).all():
        raise RuntimeError(f"clarabel found no solution ({solution.status}): scale the features, or lower C")
    return weights / max(weights.sum(), 1.0)
