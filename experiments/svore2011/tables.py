"""The 2011 paper's Tables 1 and 2, with the marks of its captions."""

from __future__ import annotations

from collections.abc import Sequence

from lambdaboost.evaluation import CNDCG, NDCG, Difference, Measure, compare
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.reproduce.protocol import CUTOFFS, Results
from lambdaboost.reproduce.systems import (
    DESCENT,
    ENGINE_LEAVES,
    EXPONENTIAL,
    EXPONENTIAL_AT_3,
    LINEAR,
    LINEAR_AT_3,
    NATIVE,
    NEWTON,
    graded_name,
)

HEADER = tuple(f"@{k}" for k in CUTOFFS)
WORSE = " ▼"


def table_1(results: Results) -> Table:
    """Graded objectives against the Newton baseline, by NDCG and by CNDCG of each click setting."""
    rows = []
    for clicks in results.data.clicks:
        name = graded_name(clicks.name)
        by_cndcg = [CNDCG(k, source=clicks.name) for k in CUTOFFS]
        for measures, kind in (([NDCG(k) for k in CUTOFFS], "NDCG"), (by_cndcg, "CNDCG")):
            changes = differences(results, NEWTON, name, measures)
            label = Cell(clicks.name)
            rows.append((label, Cell(NEWTON), Cell(kind), *(_figure(d.before.mean()) for d in changes)))
            rows.append((label, Cell(name), Cell(kind), *(marked(d, italic=False) for d in changes)))
    caption = (
        f"Means over {results.figures[NEWTON].n_queries} test queries, times 100. Bold: the graded objective is better "
        f"than the baseline at the 95% level (paired t-test); {WORSE.strip()}: it is worse at the 95% level."
    )
    return Table(("Clicks", "Method", "Measure", *HEADER), tuple(rows), caption)


def table_2(results: Results) -> Table:
    """Iteration-dependent objectives against both baselines, by NDCG."""
    measures = [NDCG(k) for k in CUTOFFS]
    rows = [_plain(results, NEWTON, measures)]
    for name, baseline in ((DESCENT, NEWTON), (EXPONENTIAL, DESCENT), (LINEAR, DESCENT)):
        rows.append((Cell(name), *(marked(d) for d in differences(results, baseline, name, measures))))
    rest = (EXPONENTIAL_AT_3, LINEAR_AT_3, NATIVE[results.setting.engine], ENGINE_LEAVES)
    rows += [_plain(results, name, measures) for name in rest]
    caption = (
        f"Means over {results.figures[NEWTON].n_queries} test queries, times 100. Paired t-test, bold: better at the "
        f"95% level, italic: better at the 90% level, {WORSE.strip()}: worse at the 95% level. Gradient descent is "
        "compared with Newton, λL + λS with gradient descent; the other rows carry no marks."
    )
    return Table(("Method", *HEADER), tuple(rows), caption)


def differences(
    results: Results, baseline: str, system: str, measures: Sequence[Measure]
) -> list[Difference]:
    """A system's difference to another on each measure."""
    comparison = compare(results.figures[baseline], results.figures[system], measures=measures)
    return [comparison[system, measure] for measure in measures]


def marked(d: Difference, italic: bool = True) -> Cell:
    """The system's mean, times 100, with its mark."""
    figure = f"{100 * d.after.mean():.2f}"
    if d.p_value < 0.05:
        return Cell(figure, "bold") if d.mean > 0 else Cell(figure + WORSE)
    return Cell(figure, "italic" if italic and d.p_value < 0.10 and d.mean > 0 else "plain")


def _plain(results: Results, name: str, measures: Sequence[Measure]) -> tuple[Cell, ...]:
    figures = results.figures[name]
    return (Cell(name), *(_figure(figures.per_query(m).mean()) for m in measures))


def _figure(mean: float) -> Cell:
    return Cell(f"{100 * mean:.2f}")
