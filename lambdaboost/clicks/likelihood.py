"""Newton's method for a log curve, and the curve that maximizes the likelihood of clicks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS = 60
TOLERANCE = 1e-8  # of log p
LARGEST_RATE = 1 - 1e-12
TINY = 1e-300


def newton(
    terms: Callable[[Floats], tuple[NDArray[Any], Floats, Floats]],
    position: NDArray[np.int64],
    group: NDArray[np.int64],
    start: Floats,
) -> tuple[Floats, float]:
    """The log curve at which a likelihood of grouped rows is largest, its first value 0, and the last step's size.

    The Hessian is the Laplacian of a graph of the positions. NaN if the groups do not connect the positions.

    Parameters
    ----------
    terms : callable
        Maps p at the position of each row to the slope, float64 (n_positions,), and for each row its weight in the
        diagonal and in the root of what the Hessian subtracts.
    position, group : int64 (n,)
        The position and the group of each row, from 0.
    start : float64 (n_positions,)
        A log curve to start from.

    """
    from scipy import sparse

    a, k = start - start[0], start.size
    moved = 0.0
    for _ in range(STEPS):
        slope, bend, spread = terms(np.exp(a)[position])
        mixed = sparse.csr_matrix((spread, (group, position)), shape=(int(group.max(initial=0)) + 1, k))
        hessian = np.diag(np.bincount(position, bend, minlength=k)) - (mixed.T @ mixed).toarray()
        try:
            step = np.linalg.solve(hessian[1:, 1:], slope[1:])
        except np.linalg.LinAlgError:
            return np.full(k, np.nan), 0.0
        moved = float(np.abs(step).max(initial=0.0))
        if not np.isfinite(moved):
            return np.full(k, np.nan), 0.0
        a[1:] += step * min(1.0, 1.0 / max(moved, TINY))
        if moved <= TOLERANCE:
            break
    return a, moved


def largest_likelihood(
    position: NDArray[np.int64], group: NDArray[np.int64], trials: Floats, clicks: Floats, k: int
) -> Floats:
    """The log of the curve p of k positions that maximizes Σ c log(p_k r_g) + (n − c) log(1 − p_k r_g) over p and r.

    Log r is eliminated: the gradient is that of the likelihood at the best r. The likelihood is concave in (log p,
    log r). Only p r < 1 is enforced: r ≤ 1 would bias the curve where, of few trials, a larger share than p is clicked.

    Parameters
    ----------
    position, group : int64 (n,)
        The position of each row from 0, and its group from 0; leave out groups without clicks, which tell nothing.
    trials, clicks : float64 (n,)
        0 ≤ clicks ≤ trials, trials above 0.
    k : int
        Number of positions.

    """
    # A rate of 1 everywhere would have no curvature.
    missed, clicked = trials * (1 + 1e-7) - clicks, np.bincount(group, clicks)
    r = clicked / np.bincount(group, trials)

    def terms(p: Floats) -> tuple[NDArray[Any], Floats, Floats]:
        nonlocal r
        r = _relevance(p, group, missed, clicked, r)
        rate = np.minimum(p * r[group], LARGEST_RATE)
        odds = missed * rate / (1 - rate)
        bend = odds / (1 - rate)
        spread = bend / np.sqrt(np.maximum(np.bincount(group, bend)[group], TINY))
        return np.bincount(position, clicks - odds, minlength=k), bend, spread

    found, moved = newton(terms, position, group, np.zeros(k))
    return found if moved < 1e-3 else np.full(k, np.nan)


def _relevance(
    p: Floats, group: NDArray[np.int64], missed: Floats, clicked: NDArray[Any], r: Floats
) -> Floats:
    """The best r of each group: the root of Σ c − Σ (n − c) p r / (1 − p r), by Newton's method in log r."""
    largest = np.zeros(r.size)
    np.maximum.at(largest, group, p)
    bound = LARGEST_RATE / largest
    r = np.minimum(r, 0.999 * bound)
    for _ in range(STEPS):
        rate = np.minimum(p * r[group], LARGEST_RATE)
        odds = missed * rate / (1 - rate)
        slope = clicked - np.bincount(group, odds)
        bend = np.bincount(group, odds / (1 - rate))
        before = r
        # At most nine tenths of the way to the bound, where the slope is infinite.
        new = r * np.exp(np.clip(slope / np.maximum(bend, TINY), -3, 3))
        r = np.minimum(new, r + 0.9 * (bound - r))
        if (np.abs(r - before) <= 1e-10 * before).all():
            break
    return r
