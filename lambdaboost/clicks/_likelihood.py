"""The curve that maximizes the likelihood of clicks, each group of rows with a relevance of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS = 60
TOLERANCE = 1e-7  # of log p
LARGEST_RATE = 1 - 1e-12


def largest_likelihood(
    position: NDArray[np.int64],
    group: NDArray[np.int64],
    trials: Floats,
    clicks: Floats,
    weight: Floats,
    start: Floats,
) -> Floats:
    """The log of the curve p that maximizes Σ w_g [c log p_k r_g + (n − c) log(1 − p_k r_g)] over p and r.

    Newton's method in log p, with log r eliminated: its gradient is that of the likelihood at the best r, and its
    Hessian the Laplacian of a graph of the positions. The likelihood is concave in (log p, log r). Only p r < 1 is
    enforced: r ≤ 1 would bias the curve where, of few trials, a larger share than p is clicked.

    Parameters
    ----------
    position, group : int64 (n,)
        The position of each row from 0, and its group from 0; leave out groups without clicks, which tell nothing.
    trials, clicks : float64 (n,)
        0 ≤ clicks ≤ trials, trials above 0.
    weight : float64 (n_groups,)
        How often each group counts, ≥ 0.
    start : float64 (n_positions,)
        A log curve to start from.

    Returns
    -------
    float64 (n_positions,)
        Log p, the first one 0; NaN if the groups with weight do not connect the positions.

    """
    from scipy import sparse

    k, n_groups = start.size, weight.size
    # A rate of 1 everywhere would have no curvature.
    trials = trials * (1 + 1e-7)
    of_row = weight[group]
    a = start - start[0]
    r = np.full(n_groups, np.nan)
    for _ in range(STEPS):
        r = _relevance(np.exp(a)[position], group, trials, clicks, n_groups, r)
        rate = np.minimum(np.exp(a)[position] * r[group], LARGEST_RATE)
        odds = (trials - clicks) * rate / (1 - rate)
        slope = np.bincount(position, of_row * (clicks - odds), minlength=k)
        bend = odds / (1 - rate)
        total = np.bincount(group, bend, minlength=n_groups)
        spread = np.sqrt(of_row / np.maximum(total[group], 1e-300)) * bend
        mixed = sparse.csr_matrix((spread, (group, position)), shape=(n_groups, k))
        hessian = np.diag(np.bincount(position, of_row * bend, minlength=k)) - (mixed.T @ mixed).toarray()
        try:
            step = np.linalg.solve(hessian[1:, 1:], slope[1:])
        except np.linalg.LinAlgError:
            return np.full(k, np.nan)
        largest = np.abs(step).max(initial=0.0)
        if not np.isfinite(largest):
            return np.full(k, np.nan)
        a[1:] += step * min(1.0, 1.0 / max(largest, 1e-300))
        if largest < TOLERANCE:
            return a
    return a if largest < 1e-3 else np.full(k, np.nan)


def _relevance(
    p: Floats, group: NDArray[np.int64], trials: Floats, clicks: Floats, n_groups: int, r: Floats
) -> Floats:
    """The best r of each group: the root of Σ c − Σ (n − c) p r / (1 − p r), by Newton's method in log r."""
    clicked = np.bincount(group, clicks, minlength=n_groups)
    largest = np.zeros(n_groups)
    np.maximum.at(largest, group, p)
    bound = LARGEST_RATE / largest
    if np.isnan(r).any():
        r = clicked / np.bincount(group, trials * p, minlength=n_groups)
    r = np.minimum(r, 0.999 * bound)
    for _ in range(STEPS):
        rate = np.minimum(p * r[group], LARGEST_RATE)
        odds = (trials - clicks) * rate / (1 - rate)
        slope = clicked - np.bincount(group, odds, minlength=n_groups)
        bend = np.bincount(group, odds / (1 - rate), minlength=n_groups)
        with np.errstate(over="ignore"):
            new = r * np.exp(np.clip(slope / np.maximum(bend, 1e-300), -3, 3))
        # At most nine tenths of the way to the bound, where the slope is infinite.
        new = np.minimum(new, r + 0.9 * (bound - r))
        done = np.abs(new - r) <= 1e-10 * r
        r = new
        if done.all():
            break
    return r
