"""The report: a few grades plus clicks, remedies against position bias, and recovered curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.clicks import few_grades, logs, rankers
from experiments.clicks.few_grades import BOTH, GRADES, WEIGHTS, named
from experiments.clicks.logs import SHOWN, USERS, true_curve
from experiments.clicks.rankers import (
    CEILING,
    DEBIASED,
    ENGINES,
    ESTIMATED,
    HARVESTED,
    IPS,
    NAIVE,
    PRODUCTION,
    RATES,
    TRUE,
)
from experiments.clicks.study import FEW_GRADES_BY, FEW_GRADES_WITH, MEASURE, Effort, Outcome
from experiments.common import report
from experiments.common.report import points, table
from experiments.common.verdicts import RULE, Figures, against, marked

HEAD = """\
Rankers trained on simulated clicks, tested on grades that they do not see: `python -m experiments.clicks`.

{} weak production rankers ({} graded queries each) show their {} best documents in {:,} sessions a fold, on the
training queries. Every ranker has {} rounds at rate {:g} and {} leaves; nothing is tuned. LightGBM trains all but
XGBoost's own. Weights are clipped at {:g}. NDCG@10 of all documents of each test query, over five folds: LETOR's
own, or five random parts of all queries. Training uses four parts; queries without a relevant document do not count."""


@dataclass(frozen=True, eq=False)
class Results:
    """Outcomes by data set, users and fold."""

    outcomes: Mapping[tuple[str, str, int], Outcome]

    @property
    def users(self) -> list[str]:
        """Names of the users."""
        return list(dict.fromkeys(users for _, users, _ in self.outcomes))

    def of(self, users: str, data_set: str | None = None) -> list[Outcome]:
        """The outcomes of one kind of users, of all data sets or one."""
        return [o for (name, of, _), o in self.outcomes.items() if of == users and data_set in (None, name)]

    def figures(self, users: str, data_set: str | None = None) -> dict[str, Figures]:
        """NDCG@10 of all test queries by each ranker that every fold has; NaN without a relevant document."""
        outcomes = self.of(users, data_set)
        names = [key for key in outcomes[0] if key.startswith("NDCG ") and all(key in o for o in outcomes)]
        return {
            key.removeprefix("NDCG "): {MEASURE: np.concatenate([o[key] for o in outcomes])} for key in names
        }

    def covered(self, estimate: str, users: str) -> tuple[int, int]:
        """Positions past the first whose interval holds the true value, and all of them, over sets and folds."""
        curves = [
            outcome[f"curve {estimate}"] for outcome in self.of(users) if f"curve {estimate}" in outcome
        ]
        truth = true_curve(USERS[users])
        held = [
            (curve[1, 1:] <= true) & (true <= curve[2, 1:])
            for curve in curves
            if truth is not None
            for true in [np.array(truth.values)[1 : curve.shape[1]]]
        ]
        return int(sum(part.sum() for part in held)), sum(part.size for part in held)


def write_report(results: Results, effort: Effort, data: Sequence[str], out: Path) -> None:
    """Write report.md."""
    sections = [
        "## A few grades plus clicks",
        few_grades_table(results),
        "## Remedies, pooled",
        remedies(results),
    ]
    sections += ["## Recovered curves", curves(results), "## Data", *data]
    head = HEAD.format(
        logs.PRODUCTION_RANKERS, logs.GRADED_FOR_EACH, SHOWN, effort.sessions,
        effort.rounds, rankers.RATE, rankers.LEAVES, rankers.CLIP,
    )  # fmt: skip
    report.write(out, "Clicks with position bias", head, sections)


def _mean(of: Figures) -> float:
    return float(np.nanmean(of[MEASURE]))


def few_grades_table(results: Results) -> str:
    """`graded()` against grades or clicks alone, at each share of the grades, pooled and by data set."""
    clicks, systems = DEBIASED + HARVESTED, [f"{BOTH}({w:g})" for w in WEIGHTS]
    header = ["", "production", "clicks", "grades", *systems, "all grades", f"{systems[0]} − better alone"]
    rows = []
    for share in few_grades.SHARES:
        both, grades = [named(system, share) for system in systems], named(GRADES, share)
        pooled = results.figures(FEW_GRADES_WITH)
        better = max((clicks, grades), key=lambda name: _mean(pooled[name]))
        for data_set in (None, *dict.fromkeys(name for name, _, _ in results.outcomes)):
            figures = results.figures(FEW_GRADES_WITH, data_set)
            means = [_mean(figures[name]) for name in (PRODUCTION, clicks, grades, *both, CEILING)]
            (found,) = against(better, {name: figures[name] for name in (better, both[0])}, [MEASURE])[
                both[0]
            ]
            what = f"{100 * share:g} % of the grades, {data_set or '**pooled**'}"
            rows.append([what, *(f"{100 * mean:.2f}" for mean in means), points(found.difference, found.p)])
    caption = (
        f"Users: {FEW_GRADES_WITH}; clicks: rates debiased by the {FEW_GRADES_BY} curve. graded(w) sees the grades of "
        "a share of the training queries and the clicks of all. The better alone is that with the higher pooled mean. "
        "p: paired t-test over test queries, not corrected."
    )
    return table(header, rows, caption)


def remedies(results: Results) -> str:
    """Every ranker under every kind of users, against clicks as labels."""
    systems = (NAIVE, RATES, IPS + TRUE, *ESTIMATED, *ENGINES, CEILING, PRODUCTION)
    rows = [[name] for name in systems]
    for users in results.users:
        figures = {name: of for name, of in results.figures(users).items() if name in systems}
        found = against(NAIVE, figures, [MEASURE])
        for row, name in zip(rows, systems, strict=True):
            mean = f"{100 * _mean(figures[name]):.2f}" if name in figures else "–"
            row.append(marked(mean, found[name][0]) if name in found else mean)
    caption = (
        "–: no such curve, or too few clicks for it in every fold. ▲ better, ▼ worse than clicks as labels. "
    )
    return table(["", *results.users], rows, caption + RULE.format("the rankers of a column"))


def curves(results: Results) -> str:
    """How often the intervals of each estimator hold the true curve."""
    estimates = [name.removeprefix(IPS) for name in ESTIMATED if name.startswith(IPS)]
    rows = [
        [users, *("{} of {}".format(*results.covered(name, users)) for name in estimates)]
        for users in results.users
        if true_curve(USERS[users]) is not None
    ]
    caption = (
        "Positions 2 to 10, over data sets and folds, at which the 95 % interval (over resampled queries) holds the "
        "true value."
    )
    return table(["", *estimates], rows, caption)
