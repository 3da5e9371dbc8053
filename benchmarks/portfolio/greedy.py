"""The choice of a portfolio from test values: shrunken means, settings one after the other, and the check of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
TINY = 1e-12  # a variance above 0


def shrunken(values: Sequence[Values]) -> Values:
    """The means (n_sets, n_settings) of values by setting and query, one array for each set, with less noise.

    A mean less the mean of all settings on its set is the effect of the setting, the same on all sets, plus its effect
    on this set, plus noise, whose variance is known from the queries: random effects, with the method of moments of
    DerSimonian and Laird (1986). Both effects are shrunken to their best linear predictions.

    >>> same = np.array([[0.5, 0.3], [0.3, 0.5]])
    >>> shrunken([same, same])
    array([[0.4, 0.4],
           [0.4, 0.4]])
    """
    centred = [one - one.mean(axis=0) for one in values]
    noise = np.array([max(one.var(axis=1, ddof=1).mean() / one.shape[1], TINY) for one in centred])
    found = np.array([one.mean(axis=1) for one in centred])
    apart = _variance_between(found, noise)
    precision = 1 / (apart + noise)
    effect = precision @ found / precision.sum()
    shared = max(0.0, effect.var(ddof=1) - 1 / precision.sum())
    effect *= shared / (shared + 1 / precision.sum())
    means = np.array([one.mean() for one in values])
    return means[:, None] + effect + (apart * precision)[:, None] * (found - effect)


def _variance_between(found: Values, noise: Values) -> float:
    """The variance, between sets, of the effect of one setting; 0 for a single set, which cannot tell."""
    n_sets, n_settings = found.shape
    if n_sets == 1:
        return 0.0
    weight = 1 / noise
    spread = (weight @ np.square(found - weight @ found / weight.sum())).sum() / (n_settings - 1)
    return max(0.0, (spread - (n_sets - 1)) / (weight.sum() - np.square(weight).sum() / weight.sum()))


def greedy(means: Values, size: int) -> list[int]:
    """Settings, each the one that most lowers the mean over sets of the regret of the best chosen one.

    `means` has a row for each set; of equal settings the one with the highest mean is taken, then the first.

    >>> greedy(np.array([[0.5, 0.4, 0.4], [0.1, 0.3, 0.4]]), 2)
    [2, 0]
    """
    best = np.full(len(means), -np.inf)
    chosen: list[int] = []
    for _ in range(min(size, means.shape[1])):
        reached = np.maximum(best[:, None], means).mean(axis=0)
        reached[chosen] = -np.inf
        level = reached >= reached.max() - 1e-12
        at = int(np.argmax(np.where(level, means.mean(axis=0), -np.inf)))
        chosen.append(at)
        best = np.maximum(best, means[:, at])
    return chosen
