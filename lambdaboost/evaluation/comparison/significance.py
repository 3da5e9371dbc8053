r"""Whether a mean difference is significant: the weighted t-test, Holm's correction, and how both are shown.

With weights :math:`h_i = w_i / \sum w`, the mean :math:`m = \sum h_i x_i` has the estimated variance

.. math:: \hat V = \sum_i \frac{h_i^2 (x_i - m)^2}{1 - 2 h_i + \sum_j h_j^2},

and t = m / √V̂ has Satterthwaite's degrees of freedom. Both are those of Bell and McCaffrey (2002) for a regression on a
constant: V̂ is robust to unequal variances, and unbiased where the variances are equal. Equal weights give the paired
t-test with n − 1 degrees of freedom exactly; where few queries carry most of the weight the test is conservative.

A t-test is overconfident on few values of small spread: two equal improvements would give p = 0. The p-value here is
therefore at least 2 / 2^m for m non-zero values, the lowest p-value of a sign-flip test.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.evaluation.comparison.table import Bold

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # absolute values below this are rounding errors of 0
LEVEL = 0.05
BETTER: Literal["▲"] = "▲"
WORSE: Literal["▼"] = "▼"
LEGEND = f"{BETTER} better, {WORSE} worse"


@dataclass(frozen=True)
class Significance:
    """A mean difference with its p-value, unadjusted and adjusted for the number of comparisons.

    Marks, bold type, sentences and JSON all read this object. `significances` makes it for all comparisons of a
    table.

    Attributes
    ----------
    difference : float
        The mean difference; positive is better.
    p : float
        The unadjusted p-value.
    adjusted : float
        The p-value adjusted for all comparisons shown together; it decides significance.

    Examples
    --------
    >>> Significance(0.02, p=0.004, adjusted=0.012).mark
    '▲'
    >>> Significance(-0.02, p=0.04, adjusted=0.08).verdict
    'no significant difference'

    """

    difference: float
    p: float
    adjusted: float

    @property
    def is_better(self) -> bool:
        """Whether the difference is positive and significant."""
        return self.adjusted < LEVEL and self.difference > 0

    @property
    def is_worse(self) -> bool:
        """Whether the difference is negative and significant."""
        return self.adjusted < LEVEL and self.difference < 0

    @property
    def mark(self) -> Literal["▲", "▼", ""]:
        """▲ if better, ▼ if worse, empty if not significant."""
        return BETTER if self.is_better else WORSE if self.is_worse else ""

    @property
    def verdict(self) -> Literal["better", "worse", "no significant difference"]:
        """The mark in words."""
        return "better" if self.is_better else "worse" if self.is_worse else "no significant difference"

    def marked(self, text: str) -> str:
        """A table cell: the mark before the text; bold if better.

        >>> Significance(0.02, p=0.004, adjusted=0.012).marked("61.66")
        '▲ 61.66'
        """
        return Bold(f"{self.mark} {text}") if self.is_better else f"{self.mark} {text}".lstrip()


def significances(comparisons: Iterable[tuple[float, float]]) -> tuple[Significance, ...]:
    """The significance of each (mean difference, p-value), adjusted by Holm's method.

    >>> [s.mark for s in significances([(0.3, 0.001), (-0.2, 0.02), (0.1, 0.04)])]
    ['▲', '▼', '▲']
    >>> [s.mark for s in significances([(0.3, 0.001), (-0.2, 0.03), (0.1, 0.04)])]
    ['▲', '', '']
    """
    given = list(comparisons)
    adjusted = holm([p for _, p in given])
    return tuple(
        Significance(float(difference), float(p), float(a))
        for (difference, p), a in zip(given, adjusted, strict=True)
    )


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
    h = weight / weight.sum()
    m = float(h @ x)
    if x.size < 2:
        return WeightedMean(m, float("inf"), 1.0)
    s = float(h @ h)
    a = h**2 / (1 - 2 * h + s)
    b = h - s / 2
    # The sum of a_i a_j Cov(e_i, e_j)² over i and j, Cov(e_i, e_j) = [i = j] − b_i − b_j.
    spread = 2 * a.sum() * (a @ b**2) + 2 * (a @ b) ** 2 + a**2 @ (1 - 4 * b)
    return WeightedMean(m, float(np.sqrt(a @ (x - m) ** 2)), float(s**2 / spread))


def within_one_error(best: Floats, other: Floats, weight: Floats) -> bool:
    """Whether `other` is at most one standard error of the paired difference below `best`, by their means.

    The one-standard-error rule (Breiman, Friedman, Olshen and Stone 1984), with the error of the difference; False
    where fewer than two queries with a weight have both values, so that there is no error.

    >>> within_one_error(np.array([0.9, 0.5, 0.7]), np.array([0.6, 0.7, 0.7]), np.ones(3))
    True
    >>> within_one_error(np.array([0.9, 0.5, 0.7]), np.array([0.6, 0.2, 0.5]), np.ones(3))
    False
    """
    difference = best - other
    known = ~np.isnan(difference) & (weight > 0)
    if np.count_nonzero(known) < 2:
        return False
    mean, error, _ = weighted_mean(difference[known], weight[known])
    return mean <= error


def two_sided_p(x: Floats, weight: Floats) -> float:
    """The p-value of the hypothesis that the weighted mean of `x` is 0."""
    return min(1.0, 2 * min(one_sided_p(x, weight), one_sided_p(-x, weight)))


def one_sided_p(x: Floats, weight: Floats) -> float:
    """The p-value of the hypothesis that the weighted mean of `x` is 0 or less."""
    from scipy.special import stdtr

    x = np.where(np.abs(x) < ROUNDING, 0.0, x)
    mean, error, df = weighted_mean(x, weight)
    if mean == 0:
        return 0.5
    p = stdtr(df, -mean / error) if error > 0 else float(mean < 0)
    return float(max(p, 0.5 ** np.count_nonzero(x)))
