"""Tests of claims "A beats B" by paired t-tests, corrected for the comparisons behind each claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation import Difference, Measure, compare_values
from lambdaboost.evaluation.significance import BETTER, LEVEL, WORSE, holm

Figures = Mapping[Any, NDArray[np.float64]]  # of each query, by measure

# Format it with the comparisons that are corrected together.
RULE = (
    f"Claims are tested by the paired t-test over test queries, two-sided, at p < {LEVEL:g} after Holm's correction "
    "for {}; p-values are corrected ones. No significant difference means that these data cannot tell, not that two "
    "systems are equal."
)


def compared(baseline: Figures, system: Figures, measures: Sequence[Measure]) -> list[Difference]:
    """Compare a system with a baseline on several measures, as one family of tests."""
    found = compare_values(
        {"baseline": {m: baseline[m] for m in measures}, "system": {m: system[m] for m in measures}}
    )
    return [found["system", measure] for measure in measures]


def corrected(found: Iterable[Difference]) -> list[Difference]:
    """Differences of several comparisons as one family of tests."""
    given = list(found)
    return [d._replace(p_holm=float(p)) for d, p in zip(given, holm([d.p for d in given]), strict=True)]


def joined(parts: Sequence[Figures]) -> dict[Any, NDArray[np.float64]]:
    """The figures of several folds together."""
    return {measure: np.concatenate([part[measure] for part in parts]) for measure in parts[0]}


def points_of(d: Difference) -> str:
    """The mean difference times 100 with its corrected p-value: ``+1.2 points, p=0.04``."""
    return f"{100 * d.difference:+.1f} points, p={d.p_holm:.2g}"


def marked(text: str, d: Difference) -> str:
    """A value with its significance mark, bold if better."""
    cell = f"{d.mark} {text}".lstrip()
    return f"**{cell}**" if d.mark == BETTER else cell


def cell(d: Difference) -> str:
    """The system's mean times 100 with its mark."""
    return marked(f"{100 * d.mean:.2f}", d)


def verdict(tested: Sequence[Difference]) -> str:
    """Whether the system beats the baseline in all, some or none of the comparisons.

    >>> from types import SimpleNamespace as Of
    >>> up, down = Of(mark=BETTER, difference=0.1), Of(mark=WORSE, difference=-0.1)
    >>> higher, lower = Of(mark="", difference=0.01), Of(mark="", difference=-0.01)
    >>> verdict([up, up]), verdict([down, down])
    ('yes', 'no, the opposite')
    >>> verdict([up, down, lower, up])
    'better at 2 of 4, worse at 1 of 4, no significant difference elsewhere'
    >>> verdict([higher, lower, higher]), verdict([higher])
    ('no significant difference, higher at 2 of 3', 'no significant difference')
    """
    better, worse = sum(d.mark == BETTER for d in tested), sum(d.mark == WORSE for d in tested)
    n = len(tested)
    if better == n:
        return "yes"
    if worse == n:
        return "no, the opposite"
    if better or worse:
        said = [f"better at {better} of {n}"] * bool(better) + [f"worse at {worse} of {n}"] * bool(worse)
        return f"{', '.join(said)}, no significant difference elsewhere"
    higher = sum(d.difference > 0 for d in tested)
    return "no significant difference" + (f", higher at {higher} of {n}" if n > 1 else "")


def unchanged(tested: Sequence[Difference]) -> str:
    """Whether two systems differ in any comparison; this cannot show that they are equal.

    >>> from types import SimpleNamespace as Of
    >>> unchanged([Of(mark=BETTER), Of(mark=""), Of(mark=WORSE), Of(mark=BETTER)])
    'no, 3 of 4 differ (2 better, 1 worse)'
    >>> unchanged([Of(mark="")])
    'no significant difference anywhere'
    """
    counts = [
        (name, sum(d.mark == mark for d in tested)) for name, mark in (("better", BETTER), ("worse", WORSE))
    ]
    signs = ", ".join(f"{count} {name}" for name, count in counts if count)
    if signs:
        return f"no, {sum(count for _, count in counts)} of {len(tested)} differ ({signs})"
    return "no significant difference anywhere"


def finding(claim: str, said: str, figures: str) -> str:
    """A list item: a claim of the paper, the verdict here, and the figures behind it."""
    return f"- {claim}: **{said}** ({figures})"
