r"""Whether a mean difference is significant: the weighted t-test, Holm's correction and marks.

With weights :math:`h_i = w_i / \sum w`, the mean :math:`m = \sum h_i x_i` has the estimated variance

.. math:: \hat V = \sum_i \frac{h_i^2 (x_i - m)^2}{1 - 2 h_i + \sum_j h_j^2},

and t = m / √V̂ has Satterthwaite's degrees of freedom. Both are those of Bell and McCaffrey (2002) for a regression on a
constant: V̂ is robust to unequal variances, and unbiased where the variances are equal. Equal weights give the paired
t-test with n − 1 degrees of freedom exactly. Where few queries carry most of the weight the degrees of freedom fall
towards 1, that of one query against all others, and the test is conservative.

A t-test is overconfident on few values of small spread: two equal improvements would give p = 0. The p-value here is
therefore at least 2 / 2^m for m non-zero values, the lowest p-value of a sign-flip test, and the interval is that of
the standard error that would give this p-value.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # absolute values below this are rounding errors of 0
LEVEL = 0.05
LEAST_WEIGHT = 1e-100  # of the largest: the squares of smaller ones would underflow
BETTER: Literal["▲"] = "▲"
WORSE: Literal["▼"] = "▼"
LEGEND = f"{BETTER} better, {WORSE} worse"


def mark(difference: float, p: float) -> Literal["▲", "▼", ""]:
    """▲ if a difference is positive and significant, ▼ if it is negative and significant, else empty.

    >>> mark(0.02, p=0.012), mark(-0.02, p=0.012), mark(-0.02, p=0.08)
    ('▲', '▼', '')
    """
    if not p < LEVEL or difference == 0:
        return ""
    return BETTER if difference > 0 else WORSE


def holm(p: ArrayLike) -> NDArray[np.float64]:
    r"""Adjusted p-values (Holm 1979), which control the probability of any false positive.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1)\, p_{(j)})

    for :math:`p_{(1)} \le \dots \le p_{(m)}`, whatever the dependence between the comparisons.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(p.size, 0, -1) * p[order]))
    return adjusted


class WeightedMean(NamedTuple):
    """A weighted mean, its standard error, and the degrees of freedom of the error."""

    mean: float
    error: float
    df: float


def weighted_mean(x: Floats, weight: Floats) -> WeightedMean:
    """The mean of `x`, (n,), under positive weights, with its standard error; the error is infinite for n = 1."""
    n = x.size
    h = np.maximum(weight / weight.max(), LEAST_WEIGHT)
    h /= h.sum()
    m = float((h * x).sum())
    if n < 2:
        return WeightedMean(m, float("inf"), 1.0)

    # A query of nearly all the weight stands apart from the others: what it leaves to them, 1 − h, would be lost in
    # rounding, and so would the difference of its value from the mean. Products are summed by NumPy: BLAS, which `@`
    # calls, sums in an order that depends on its threads.
    top = int(h.argmax())
    others = np.arange(n) != top
    left, squares = float(h[others].sum()), float((h[others] ** 2).sum())
    s = squares + h[top] ** 2
    variance = 1 - 2 * h + s  # of each residual, where all values have variance 1
    variance[top] = left**2 + squares
    residual = x - m
    residual[top] = (h[others] * (x[top] - x[others])).sum()
    a = h**2 / variance

    # The degrees of freedom are s² over the sum of a_i a_j Cov(e_i, e_j)² over i and j, Cov(e_i, e_j) = s − h_i − h_j.
    a_o, b = a[others], h[others] - s / 2
    ab = a_o * b
    spread = 2 * a_o.sum() * (ab * b).sum() + 2 * ab.sum() ** 2 - 4 * (ab**2).sum()
    spread += (h**4).sum() + 2 * a[top] * (a_o * (squares - h[top] * left - h[others]) ** 2).sum()
    error = float(np.sqrt((a * residual**2).sum()))
    return WeightedMean(m, error, float(np.clip(s**2 / spread, 1, n - 1)))


def paired_differences(values: Floats, others: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The differences of each query of positive weight on which both are defined, and the weights of these queries."""
    x = values - others
    known = ~np.isnan(x) & (weight > 0)
    return x[known], weight[known]


def two_sided_p(x: Floats, weight: Floats) -> float:
    """The p-value of the hypothesis that the weighted mean of `x` is 0."""
    x = np.where(np.abs(x) < ROUNDING, 0.0, x)
    found, n = weighted_mean(x, weight), int(np.count_nonzero(x))
    return min(1.0, 2 * min(one_sided_p(found, n), one_sided_p(found._replace(mean=-found.mean), n)))


def one_sided_p(found: WeightedMean, n: int) -> float:
    """The p-value of the hypothesis that a mean is 0 or less, as found from `n` non-zero values.

    It is at least the p-value of a test by their signs.
    """
    from scipy.special import stdtr

    if found.mean == 0:
        return 0.5
    p = float(found.mean < 0)
    if found.error > 0:
        p = float(stdtr(found.df, -found.mean / found.error))
    return float(max(p, 0.5**n))


def values_needed(found: WeightedMean, n: int, power: float = 0.8) -> float:
    """How many values would show that the mean is above 0, with this power, if it is as found from `n` values.

    Infinite for a mean of 0 or less, or of one value.

    >>> values_needed(WeightedMean(0.1, 0.1, 99.0), 100)
    619.0
    """
    from scipy.special import ndtri

    if found.mean <= 0 or not np.isfinite(found.error):
        return np.inf
    spread = found.error * np.sqrt(n)
    needed = (spread * (ndtri(1 - LEVEL) + ndtri(power)) / found.mean) ** 2
    return float(np.ceil(max(needed, n + 1)))


def interval(x: Floats, weight: Floats, alpha: float = LEVEL) -> tuple[float, float]:
    """The 1 − `alpha` interval of the weighted mean of `x`: mean ± t · error.

    The error is that of `weighted_mean`, or a larger one by which a t-test of the mean has the p-value `two_sided_p`.
    So it holds 0 if and only if ``two_sided_p(x, weight) >= alpha``, and six equal gains do not give an interval of
    width 0. It is infinite with too few values for significance (fewer than six at 0.05).

    >>> low, high = interval(np.full(6, 0.1), np.ones(6))
    >>> round(low, 3), round(high, 3)
    (0.013, 0.187)
    """
    from scipy.special import stdtrit

    mean, error, df = weighted_mean(x, weight)
    if 2 * 0.5**x.size >= alpha:
        return -np.inf, np.inf
    p = two_sided_p(x, weight)
    least = 2 * 0.5 ** int(np.count_nonzero(np.abs(x) >= ROUNDING))
    if p == least < 1:  # by the signs
        error = max(error, abs(mean / float(stdtrit(df, p / 2))))
    reach = float(-stdtrit(df, alpha / 2)) * error
    if p < alpha:
        return mean - reach, mean + reach
    # Both ends are on either side of 0, also where rounding has moved one across it.
    return min(mean - reach, 0.0), max(mean + reach, 0.0)
