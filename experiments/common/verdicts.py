"""Tests of claims "A beats B" by paired t-tests, corrected for the comparisons behind each claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.common.report import points
from lambdaboost.evaluation import Difference, Figures, Measure, Significance, compare
from lambdaboost.evaluation.comparison.significance import LEVEL

# Format it with the comparisons that are corrected together.
RULE = (
    f"Claims are tested by the paired t-test over test queries, two-sided, at p < {LEVEL:g} after Holm's correction "
    "for {}; p-values are corrected ones. No significant difference means that these data cannot tell, not that two "
    "systems are equal."
)


@dataclass(frozen=True, eq=False)
class Compared:
    """A difference between two systems on one measure, and its significance within its family of tests."""

    difference: Difference
    significance: Significance

    @property
    def points(self) -> str:
        """The mean difference times 100 with its corrected p-value."""
        return points(self.significance.difference, self.significance.adjusted)

    def cell(self) -> str:
        """The system's mean times 100 with its significance mark, bold if better."""
        return marked(f"{100 * self.difference.mean_after:.2f}", self.significance)


def compared(baseline: Figures, system: Figures, measures: Sequence[Measure]) -> list[Compared]:
    """Compare a system with a baseline on several measures, as one family of tests."""
    found = compare(baseline, system, measures=measures)
    return [Compared(d, found.significance[d.system, d.measure]) for d in found.differences]


def marked(text: str, significance: Significance) -> str:
    """A value with its significance mark, bold if better."""
    cell = significance.marked(text)
    return f"**{cell}**" if significance.is_better else cell


def verdict(tested: Sequence[Significance]) -> str:
    """Whether the system beats the baseline in all, some or none of the comparisons."""
    better, worse = sum(s.is_better for s in tested), sum(s.is_worse for s in tested)
    n = len(tested)
    if better == n:
        return "yes"
    if worse == n:
        return "no, the opposite"
    if better or worse:
        said = [f"better at {better} of {n}"] * bool(better) + [f"worse at {worse} of {n}"] * bool(worse)
        return f"{', '.join(said)}, no significant difference elsewhere"
    higher = sum(s.difference > 0 for s in tested)
    return "no significant difference" + (f", higher at {higher} of {n}" if n > 1 else "")


def unchanged(tested: Sequence[Significance]) -> str:
    """Whether two systems differ in any comparison; this cannot show that they are equal."""
    differ = [s for s in tested if s.mark]
    if differ:
        signs = ", ".join(f"{count} {name}" for name, count in _counted(differ).items())
        return f"no, {len(differ)} of {len(tested)} differ ({signs})"
    return "no significant difference anywhere"


def _counted(tested: Sequence[Significance]) -> dict[str, int]:
    return {name: count for name in ("better", "worse") if (count := sum(s.verdict == name for s in tested))}


def finding(claim: str, said: str, figures: str) -> str:
    """A list item: a claim of the paper, the verdict here, and the figures behind it."""
    return f"- {claim}: **{said}** ({figures})"
