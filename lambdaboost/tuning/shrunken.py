r"""`shrunken`: means of settings, drawn towards each other as far as their differences are noise.

The highest of many noisy means is too high, and often not the best setting's. With settings s of candidates c,

.. math:: \bar y_s = \mu + u_c + v_s + e_s, \qquad u_c \sim (0, B), \quad v_s \sim (0, A), \quad e_s \sim (0, V_s),

the best linear prediction of a setting's true mean is

.. math:: m_s = m_c + \frac{A}{A + V_s} (\bar y_s - m_c), \qquad
          m_c = \mu + \frac{B}{B + V_c} (\bar y_c - \mu), \qquad \frac{1}{V_c} = \sum_{s \in c} \frac{1}{A + V_s},

where means of several are weighted by their precision. V_s is known from the queries: the variance of the mean of the
differences from the mean over all settings. A, and then B, are found by the method of moments of DerSimonian and Laird
(1986).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation.comparison.significance import ROUNDING, weighted_mean

Floats = NDArray[np.float64]
TINY = ROUNDING**2  # a variance above 0


def shrunken(values: Floats, weight: Floats, candidate: NDArray[np.int64]) -> Floats:
    """The shrunken mean of each setting, float64 (s,).

    `values`, (s, n), has every setting's value of each query, NaN in the same places; `weight`, (n,), weights the
    queries; `candidate`, (s,), names the candidate of each setting. Without noise these are the means; if all
    differences are as small as noise makes them, they are all equal.

    >>> calm = np.array([[0.1, 0.5], [0.2, 0.6], [0.6, 1.0]])
    >>> shrunken(calm, np.ones(2), np.array([0, 0, 1])).round(12)
    array([0.3, 0.4, 0.8])
    >>> noisy = np.array([[0.1, 0.5], [0.6, 0.1], [0.5, 0.2]])
    >>> bool(np.ptp(shrunken(noisy, np.ones(2), np.array([0, 0, 1]))) == 0)
    True
    """
    known = ~np.isnan(values).any(axis=0) & (weight > 0)
    values, weight = values[:, known], weight[known]
    means = values @ (weight / weight.sum()) if weight.size else np.zeros(len(values))
    if len(values) < 2 or weight.size < 2:
        return means
    group = np.unique(candidate, return_inverse=True)[1]
    noise = _noise(values, weight)
    within = _variance(means, noise, group)
    precision = 1 / (within + noise)
    of_candidate = np.bincount(group, precision)
    centres = np.bincount(group, precision * means) / of_candidate
    between = _variance(centres, 1 / of_candidate, np.zeros_like(centres, dtype=np.int64))
    of_all = 1 / (between + 1 / of_candidate)
    centre = of_all @ centres / of_all.sum()
    drawn = (centre + between * of_all * (centres - centre))[group]
    result: Floats = drawn + within * precision * (means - drawn)
    return result


def _noise(values: Floats, weight: Floats) -> Floats:
    """V of each setting, without what is common to all."""
    differences = values - values.mean(axis=0)
    n = len(values)
    return np.array([max(weighted_mean(row, weight).error ** 2 * n / (n - 1), TINY) for row in differences])


def _variance(means: Floats, noise: Floats, group: NDArray[np.int64]) -> float:
    """The variance of the means within groups, beyond their noise; 0 where each group has one."""
    free = means.size - group.max() - 1
    if free == 0:
        return 0.0
    precision = 1 / noise
    total = np.bincount(group, precision)
    centres = np.bincount(group, precision * means) / total
    found = precision @ (means - centres[group]) ** 2
    scale = precision.sum() - np.sum(np.bincount(group, precision**2) / total)
    return max(0.0, float((found - free) / scale))
