"""`Significance`: whether a mean difference is significant, and how that is shown everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.evaluation.comparison.table import Cell

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

    def marked(self, text: str) -> Cell:
        """A table cell: the mark before the text; bold if better.

        >>> Significance(0.02, p=0.004, adjusted=0.012).marked("61.66")
        Cell(text='▲ 61.66', style='bold')
        """
        return Cell(f"{self.mark} {text}".lstrip(), "bold" if self.is_better else "plain")


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


def criterion(n: int) -> str:
    """The criterion of significance, in words, for `n` comparisons shown together.

    >>> criterion(4)
    "paired t-test, p < 0.05 after Holm's correction for 4 comparisons"
    """
    return f"paired t-test, p < {LEVEL:g}" + (
        f" after Holm's correction for {n} comparisons" if n > 1 else ""
    )
