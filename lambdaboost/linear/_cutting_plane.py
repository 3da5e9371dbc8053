"""The cutting plane method with one slack (Joachims, Finley and Yu 2009)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.linear._quadratic import simplex_weights

Floats = NDArray[np.float64]
IDLE = 10  # consecutive solutions in which a cut has weight 0 before it is dropped


class Cut(NamedTuple):
    """A tangent of the risk: R(w) ≥ value + slope·w, with equality where it was made."""

    value: float
    slope: Floats


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of the cutting plane method.

    Attributes
    ----------
    w : float64 (n_features,)
    risk : float
        R(w), the mean slack.
    objective : float
        ½‖w‖² + C R(w).
    bound : float
        The dual objective, a lower bound for every w.
    n_iter : int
        Number of cuts made.
    converged : bool
        Whether no constraint is violated by more than ε.

    """

    w: Floats
    risk: float
    objective: float
    bound: float
    n_iter: int
    converged: bool

    @property
    def gap(self) -> float:
        """The duality gap: an upper bound on the objective minus its minimum."""
        return self.objective - self.bound


def cutting_plane(
    cut_at: Callable[[Floats], Cut], n_features: int, C: float, epsilon: float, max_iter: int
) -> Solution:
    r"""Minimise :math:`\frac12\|w\|^2 + C\,R(w)` for a convex risk R ≥ 0, given its tangents.

    Each step solves the dual of the problem with the cuts so far in place of R,
    :math:`\max_\beta C\,v\cdot\beta - \frac12 C^2 \|\sum_i\beta_i a_i\|^2` for β ≥ 0 and Σβ ≤ 1, so
    :math:`w = -C\sum_i\beta_i a_i`; then it adds a cut at w. It stops when R(w) is within ε of the
    maximum ξ of the cuts: then no constraint is violated by more than ε, and the gap is at most C ε.

    Parameters
    ----------
    cut_at : callable
        ``cut_at(w)`` returns the tangent of R at w.
    n_features : int
        Length of w.
    C, epsilon : float
        > 0.
    max_iter : int
        Maximum number of cuts.

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
    return Solution(w, risk, objective, bound, n_iter, risk - xi <= epsilon)
