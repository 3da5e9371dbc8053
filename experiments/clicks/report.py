"""The report: a few grades plus clicks, remedies against position bias, and recovered curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.clicks import few_grades, logs, rankers
from experiments.clicks.few_grades import BOTH, GRADES, WEIGHTS, named
from experiments.clicks.logs import SHOWN, UNBIASED_USERS, USERS, true_curve
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
from experiments.clicks.results import Results
from experiments.clicks.study import FEW_GRADES_BY, FEW_GRADES_WITH, MEASURE, Effort
from experiments.common import report
from experiments.common.report import legend, points, table
from experiments.common.verdicts import RULE, finding, marked
from lambdaboost.evaluation import Difference
from lambdaboost.evaluation.charts import COLOURS

HEAD = """\
Rankers trained on simulated clicks, tested on grades that they do not see: `python -m experiments.clicks`.

{} weak production rankers ({} graded queries each) show their {} best documents in {:,} sessions a fold, on the
training queries. Every ranker has {} rounds at rate {:g} and {} leaves; nothing is tuned. LightGBM trains all but
XGBoost's own. Weights are clipped at {:g}. NDCG@10 of all documents of each test query, over five folds: LETOR's
own, or five random parts of all queries. Training uses four parts; queries without a relevant document do not count."""


def write_report(results: Results, effort: Effort, data: Sequence[str], out: Path) -> None:
    """Write report.md and the picture of the curves."""
    sections = [_few_grades(results), findings(results), _remedies(results), _curves(results)]
    sections += [_of_data_sets(results), "## Data\n\n" + "\n\n".join(data)]
    head = HEAD.format(
        logs.PRODUCTION_RANKERS,
        logs.GRADED_FOR_EACH,
        SHOWN,
        effort.sessions,
        effort.rounds,
        rankers.RATE,
        rankers.LEAVES,
        rankers.CLIP,
    )
    report.write(out, "Clicks with position bias", head, sections)
    _draw_curves(results, out / "curves.png")


def _few_grades(results: Results) -> str:
    users, clicks, systems = FEW_GRADES_WITH, DEBIASED + HARVESTED, [f"{BOTH}({w:g})" for w in WEIGHTS]
    header = ["", "production", "clicks", "grades", *systems, "all grades"]
    header += [f"{systems[0]} − better alone", "of the way to all grades"]
    rows = []
    for share in few_grades.SHARES:
        both, grades = [named(system, share) for system in systems], named(GRADES, share)
        better = results.best((clicks, grades), users)
        for data_set in (None, *results.data_sets):
            shown = (PRODUCTION, clicks, grades, *both, CEILING)
            means = {name: results.mean(name, users, data_set) for name in shown}
            found = _significance(results, better, both[0], users, data_set)
            missing = means[CEILING] - means[better]
            rows.append(
                [
                    f"{100 * share:g} % of the grades, {data_set or '**pooled**'}",
                    *(f"{100 * mean:.2f}" for mean in means.values()),
                    points(found.difference, found.p),
                    f"{100 * (means[both[0]] - means[better]) / missing:.0f} %" if missing > 0.01 else "–",
                ]
            )
    caption = (
        f"Users: {users}; clicks: rates debiased by the {FEW_GRADES_BY} curve. graded(w) sees the grades of a share of "
        "the training queries and the clicks of all. The better alone is that with the higher pooled mean. p: paired "
        "t-test over test queries, not corrected. –: less than a point is missing."
    )
    return "## A few grades plus clicks\n\n" + table(header, rows, caption)


def _significance(
    results: Results, baseline: str, system: str, users: str, data_set: str | None = None
) -> Difference:
    found = results.compared(baseline, [system], users, data_set)
    return found[system, MEASURE]


def findings(results: Results) -> str:
    """The section on what the estimators bring, a line for each claim."""
    biased = [users for users in results.users if users != UNBIASED_USERS]
    always = [
        system for system in ESTIMATED if all(system in results.systems(users) for users in results.users)
    ]
    best = max(always, key=lambda system: np.mean([results.mean(system, users) for users in biased]))
    lines = [
        f"## Findings, pooled\n\nThe estimator with the highest mean over users with a bias is {best}; it was chosen "
        "by these same figures. p-values are not corrected.\n"
    ]
    for users in biased:
        found = _significance(results, NAIVE, best, users)
        said = "yes" if found.p < 0.05 and found.difference > 0 else "no"
        lines.append(finding(f"It beats clicks as labels, {users}", said, points(found.difference, found.p)))
    for engine in ENGINES:
        for users in results.users:
            found = _significance(results, engine, best, users)
            said = "no" if found.p < 0.05 and found.difference < 0 else "yes"
            claim = f"It is not significantly worse than {engine}, {users}"
            lines.append(finding(claim, said, points(found.difference, found.p)))
    if UNBIASED_USERS in results.users:
        found = _significance(results, NAIVE, best, UNBIASED_USERS)
        said = "no" if found.p < 0.05 and found.difference < 0 else "yes"
        lines.append(finding("It costs nothing without a bias", said, points(found.difference, found.p)))
    return "\n".join(lines)


def _remedies(results: Results) -> str:
    caption = "▲ better, ▼ worse than clicks as labels. " + RULE.format("the rankers of a column")
    return "## Remedies, pooled\n\n" + _table(results, None) + "\n\n" + caption


def _of_data_sets(results: Results) -> str:
    parts = [f"### {name}\n\n{_table(results, name)}" for name in results.data_sets]
    return "## Remedies, by data set\n\n" + "\n\n".join(parts)


def _table(results: Results, data_set: str | None) -> str:
    systems = (NAIVE, RATES, IPS + TRUE, *ESTIMATED, *ENGINES, CEILING, PRODUCTION)
    columns = {}
    for users in results.users:
        there = [s for s in systems if s in results.systems(users)]
        found = results.compared(there[0], there[1:], users, data_set)
        cells = {there[0]: f"{100 * results.mean(there[0], users, data_set):.2f}"}
        for s in there[1:]:
            cells[s] = marked(f"{100 * results.mean(s, users, data_set):.2f}", found[s, MEASURE])
        columns[users] = cells
    rows = [[s, *(columns[users].get(s, "–") for users in results.users)] for s in systems]
    return table(
        ["", *results.users], rows, "–: no such curve, or too few clicks to estimate it in every fold."
    )


def _curves(results: Results) -> str:
    estimates = [name.removeprefix(IPS) for name in ESTIMATED if name.startswith(IPS)]
    rows = []
    for users in results.users:
        if (truth := true_curve(USERS[users])) is not None:
            cells = [
                "{} of {}".format(*results.covered(name, np.array(truth.values), users)) for name in estimates
            ]
            rows.append([users, *cells])
    caption = (
        "Positions 2 to 10, over data sets and folds, at which the 95 % interval (over resampled queries) holds the "
        "true value."
    )
    return "## Recovered curves\n\n![](curves.png)\n\n" + table(["", *estimates], rows, caption)


def _draw_curves(results: Results, path: Path) -> None:
    drawn = [users for users in results.users if true_curve(USERS[users]) is not None]
    report.draw(path, *(_panel(results, users) for users in drawn), width=3.6)


def _panel(results: Results, users: str) -> Any:
    def draw(axes: Any) -> None:
        outcome = results.of(users)[0]
        rank = np.arange(1, SHOWN + 1)
        axes.plot(rank, true_curve(USERS[users]).values, color="black", label="true")  # type: ignore[union-attr]
        names = [name.removeprefix(IPS) for name in ESTIMATED if name.startswith(IPS)]
        for shift, (name, colour) in enumerate(zip(names, COLOURS, strict=False)):
            if f"curve {name}" not in outcome:
                continue
            values, low, high = outcome[f"curve {name}"]
            error = np.maximum([values - low, high - values], 0)
            axes.errorbar(
                rank + 0.15 * (shift - 1), values, error, fmt="o", markersize=3, color=colour, label=name
            )
        axes.set(title=users, xlabel="position", ylim=(0, 1.4))
        legend(axes)

    return draw
