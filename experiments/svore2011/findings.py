"""Which of the paper's findings hold here, each decided by a rule that was fixed before any result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lambdaboost.evaluation import CNDCG, NDCG, Difference, Figures, Measure, compare
from lambdaboost.reproduce.diagnosis import Diagnosis
from lambdaboost.reproduce.protocol import CUTOFFS, GROWING, SHARES, Results
from lambdaboost.reproduce.systems import (
    DESCENT,
    EXPONENTIAL,
    EXPONENTIAL_AT_3,
    LINEAR,
    LINEAR_AT_3,
    NEWTON,
    graded_name,
)
from lambdaboost.reproduce.tables import differences

AT_3 = CUTOFFS.index(3)
RULE = (
    "A system beats another where its mean over the test queries is higher and the paired t-test gives p < 0.05; "
    "“no” is the opposite with p < 0.05; everything else is undecided: here the data cannot tell. Two systems are "
    "called equal where no truncation level differs with p < 0.05, which is not proof that they are. Findings read off "
    "Figures 2 and 3 compare the two figures given, without a test."
)


@dataclass(frozen=True)
class Finding:
    """A finding of the paper, whether it holds here, and the figures behind the verdict."""

    paper: str
    verdict: str
    detail: str

    def markdown(self) -> str:
        """One item of a list."""
        return f"- {self.paper}: **{self.verdict}** ({self.detail})"


def findings(results: Results, diagnosis: Diagnosis) -> list[Finding]:
    """All findings, in the paper's order."""
    return [
        *_of_figures(results, diagnosis),
        *(finding for clicks in results.data.clicks for finding in _of_table_1(results, clicks.name)),
        *_of_table_2(results),
        *_of_figure_7(results),
    ]


def _of_table_1(results: Results, clicks: str) -> list[Finding]:
    name = graded_name(clicks)
    by_clicks = differences(results, NEWTON, name, [CNDCG(k, source=clicks) for k in CUTOFFS])
    by_grades = differences(results, NEWTON, name, [NDCG(k) for k in CUTOFFS])
    return [
        _better(
            f"The graded objective beats the baseline in CNDCG of {clicks} at all truncations", by_clicks
        ),
        _equal(f"Graded by {clicks}, it leaves NDCG unchanged", by_grades),
    ]


def _of_table_2(results: Results) -> list[Finding]:
    measures = [NDCG(k) for k in CUTOFFS]

    def change(baseline: str, system: str) -> list[Difference]:
        return differences(results, baseline, system, measures)

    return [
        _better("Gradient descent beats Newton from @3 on", change(NEWTON, DESCENT)[AT_3:]),
        *(
            _better(f"{system} beats {named} from @3 on", change(baseline, system)[AT_3:])
            for system in (EXPONENTIAL, LINEAR)
            for baseline, named in ((DESCENT, "gradient descent"), (NEWTON, "Newton"))
        ),
        _better("λL + λS beats λL + λS@3, both exponential", change(EXPONENTIAL_AT_3, EXPONENTIAL)),
        _better("λL + λS beats λL + λS@3, both linear", change(LINEAR_AT_3, LINEAR)),
        _equal("Exponential and linear are equal", change(EXPONENTIAL, LINEAR)),
    ]


def _of_figures(results: Results, diagnosis: Diagnosis) -> list[Finding]:
    found = []
    for clicks in results.data.clicks:
        every, tied = diagnosis.agreement(clicks.name)
        gain = tied - every
        found.append(
            Finding(
                f"λ of {clicks.name} agrees with λL more often on clicked pairs of equal grade than on all pairs "
                "(Figure 2)",
                "yes" if gain > 0 else "no",
                f"{100 * tied:.1f}% of documents against {100 * every:.1f}%, mean over rounds; 15 points in the paper",
            )
        )
    share = diagnosis.low_grade_share()
    verdict = "yes" if share > 0.7 else "no"
    if max(diagnosis.grades) < 3:
        verdict = "cannot be told, there are no other grades to pair with"
    found.append(
        Finding(
            "Documents of grade 0 and 1 give over 70% of λ of highly relevant ones (Figure 3a)",
            verdict,
            f"{100 * share:.1f}%, mean over rounds; highly relevant is here {diagnosis.highly_relevant}",
        )
    )
    return found


def _of_figure_7(results: Results) -> list[Finding]:
    measure, found = NDCG(3), []
    values = {system: results.shares_of(system, measure) for system in GROWING}
    for baseline in (NEWTON, DESCENT):
        changes = [
            _change(baseline, LINEAR, measure, values[baseline][at], values[LINEAR][at])
            for at in range(len(SHARES))
        ]
        shares = ", ".join(f"{share:.0%}: {_figures(d)}" for share, d in zip(SHARES, changes, strict=True))
        found.append(
            Finding(
                f"{LINEAR} beats {baseline} at @3 on smaller training sets (Figure 7)",
                _verdict(changes),
                shares,
            )
        )
    return found


def _change(
    baseline: str, system: str, measure: Measure, before: np.ndarray, after: np.ndarray
) -> Difference:
    one, other = Figures(baseline, {measure: before}), Figures(system, {measure: after})
    return compare(one, other, measures=measure)[system, measure]


def _better(paper: str, changes: Sequence[Difference]) -> Finding:
    return Finding(paper, _verdict(changes), _at_3(changes))


def _equal(paper: str, changes: Sequence[Difference]) -> Finding:
    differ = [d for d in changes if d.p_value < 0.05]
    verdict = "yes" if not differ else f"no, {len(differ)} of {len(changes)} truncations differ"
    d = next((d for d in changes if d.measure.k == 3), changes[0])  # type: ignore[attr-defined]
    low, high = d.interval()
    return Finding(
        paper, verdict, f"{_at_3(changes)}, 95% bootstrap interval {100 * low:+.1f} to {100 * high:+.1f}"
    )


def _verdict(changes: Sequence[Difference]) -> str:
    better = sum(d.p_value < 0.05 and d.mean > 0 for d in changes)
    worse = sum(d.p_value < 0.05 and d.mean < 0 for d in changes)
    if better == len(changes):
        return "yes"
    if worse == len(changes):
        return "no, the opposite holds"
    if better and not worse:
        return f"at {better} of {len(changes)} yes, else undecided"
    if worse and not better:
        return f"at {worse} of {len(changes)} the opposite holds, else undecided"
    if better:
        return f"mixed: at {better} of {len(changes)} yes, at {worse} the opposite holds"
    higher = sum(d.mean > 0 for d in changes)
    return f"undecided, higher at {higher} of {len(changes)}"


def _at_3(changes: Sequence[Difference]) -> str:
    d = next((d for d in changes if d.measure.k == 3), changes[0])  # type: ignore[attr-defined]
    return f"at @{d.measure.k} {_figures(d)}"  # type: ignore[attr-defined]


def _figures(d: Difference) -> str:
    return f"{100 * d.mean:+.1f} points, p={d.p_value:.2g}"
