"""The report: the 2011 paper's tables, which findings hold here, and all runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.common import report
from experiments.common.report import table
from experiments.common.verdicts import (
    RULE,
    cell,
    compared,
    corrected,
    finding,
    points_of,
    unchanged,
    verdict,
)
from experiments.svore2011.figures import Diagnosis, diagnose, draw_figures
from experiments.svore2011.protocol import Results
from experiments.svore2011.settings import (
    CUTOFFS,
    DESCENT,
    ENGINE_LEAVES,
    EXPONENTIAL,
    EXPONENTIAL_AT_3,
    LINEAR,
    LINEAR_AT_3,
    NATIVE,
    NEWTON,
    SHARES,
    Grid,
    graded_name,
)
from lambdaboost import CNDCG, NDCG
from lambdaboost.evaluation import Difference, Measure, parse

PAPER = (
    "Svore, Volkovs and Burges, *Learning to Rank with Multiple Objective Functions*, WWW 2011, after its section 6, "
    "repeated by `python -m experiments.svore2011`."
)
TESTED = RULE.format("the ten cutoffs of a pair of systems, or the four training shares of Figure 7") + (
    " Findings read off Figures 2 and 3 compare the two figures given, without a test."
)
BY_NDCG: list[Measure] = [NDCG(k) for k in CUTOFFS]
FROM_3 = CUTOFFS.index(3)
MARKS = "▲ better, ▼ worse (paired t-test, p < 0.05 after Holm's correction for the ten cutoffs of a row)"


def write_report(results: Results, out: Path) -> None:
    """Write report.md and its figures."""
    diagnosis = diagnose(results)
    figures = draw_figures(results, diagnosis, out)
    data = results.data
    sections = [
        *(["## Table 1: graded objectives", table_1(results)] if data.clicks else []),
        "## Table 2: iteration-dependent objectives",
        table_2(results),
        "## What holds here",
        TESTED,
        "\n".join(findings(results, diagnosis)),
        "Beside the paper, against the engine's own objective, corrected in the same way:",
        "\n".join(against_native(results)),
        "## Figures",
        figures,
        "## What was run",
        _what_was_run(results),
        "## Data",
        data.markdown() + ("" if data.clicks else "\n\nNo click labels were given, so there is no Table 1."),
        "## Grids",
        _grids(results.grid),
        "## Selected parameters",
        _selected(results),
    ]
    report.write(out, f"The 2011 paper's experiments on {data.name}", PAPER, sections)


def differences(
    results: Results, baseline: str, system: str, measures: Sequence[Measure] = BY_NDCG
) -> list[Difference]:
    """The comparison of two systems by cutoff, used by marks and sentences."""
    return compared(results.figures[baseline], results.figures[system], measures)


def table_1(results: Results) -> str:
    """Graded objectives against the Newton baseline, by NDCG and by CNDCG of each click setting."""
    rows = []
    for clicks in results.data.clicks:
        name = graded_name(clicks.name)
        by_cndcg: list[Measure] = [CNDCG(k, source=clicks.name) for k in CUTOFFS]
        for measures, kind in ((BY_NDCG, "NDCG"), (by_cndcg, "CNDCG")):
            rows.append([clicks.name, NEWTON, kind, *_means(results, NEWTON, measures)])
            cells = [cell(d) for d in differences(results, NEWTON, name, measures)]
            rows.append([clicks.name, name, kind, *cells])
    caption = f"{_means_over(results)} The graded objective against the baseline: {MARKS}."
    return table(["Clicks", "Method", "Measure", *(f"@{k}" for k in CUTOFFS)], rows, caption)


def table_2(results: Results) -> str:
    """Iteration-dependent objectives against both baselines, by NDCG."""
    rows = [[NEWTON, *_means(results, NEWTON, BY_NDCG)]]
    for name, baseline in ((DESCENT, NEWTON), (EXPONENTIAL, DESCENT), (LINEAR, DESCENT)):
        rows.append([name, *(cell(d) for d in differences(results, baseline, name))])
    for name in (EXPONENTIAL_AT_3, LINEAR_AT_3, NATIVE, ENGINE_LEAVES):
        rows.append([name, *_means(results, name, BY_NDCG)])
    caption = (
        f"{_means_over(results)} Gradient descent against Newton, λL + λS against gradient descent: {MARKS}. The other "
        "rows carry no marks."
    )
    return table(["Method", *(f"@{k}" for k in CUTOFFS)], rows, caption)


def _means(results: Results, name: str, measures: Sequence[Measure]) -> list[str]:
    return [f"{100 * results.figures[name][measure].mean():.2f}" for measure in measures]


def _means_over(results: Results) -> str:
    return f"Means over {results.figures[NEWTON][NDCG(3)].size:,} test queries, times 100."


def findings(results: Results, diagnosis: Diagnosis) -> list[str]:
    """Which of the paper's findings hold, in its order."""
    found = [_agreement(diagnosis, clicks.name) for clicks in results.data.clicks]
    found.append(_low_grades(diagnosis))
    for clicks in results.data.clicks:
        name = graded_name(clicks.name)
        by_clicks = differences(results, NEWTON, name, [CNDCG(k, source=clicks.name) for k in CUTOFFS])
        claim = f"The graded objective beats the baseline in CNDCG of {clicks.name} at all cutoffs"
        found.append(_beats(claim, by_clicks))
        claim = f"Graded by {clicks.name}, it leaves NDCG unchanged"
        found.append(_leaves_unchanged(claim, differences(results, NEWTON, name)))
    found.append(
        _beats("Gradient descent beats Newton from @3 on", differences(results, NEWTON, DESCENT)[FROM_3:])
    )
    for system in (EXPONENTIAL, LINEAR):
        for baseline, named in ((DESCENT, "gradient descent"), (NEWTON, "Newton")):
            claim = f"{system} beats {named} from @3 on"
            found.append(_beats(claim, differences(results, baseline, system)[FROM_3:]))
    for at_3, everywhere, kind in (
        (EXPONENTIAL_AT_3, EXPONENTIAL, "exponential"),
        (LINEAR_AT_3, LINEAR, "linear"),
    ):
        claim = f"λL + λS beats λL + λS@3, both {kind}"
        found.append(_beats(claim, differences(results, at_3, everywhere)))
    claim = "Exponential and linear schedules do equally well"
    found.append(_leaves_unchanged(claim, differences(results, EXPONENTIAL, LINEAR)))
    return found + [_on_shares(results, baseline) for baseline in (NEWTON, DESCENT)]


def against_native(results: Results) -> list[str]:
    """The systems of Table 2 against the engine's own objective."""
    return [
        _beats(f"{system} beats {NATIVE}", differences(results, NATIVE, system))
        for system in (NEWTON, DESCENT, EXPONENTIAL, LINEAR, ENGINE_LEAVES)
    ]


def _beats(claim: str, changes: Sequence[Difference]) -> str:
    return finding(claim, verdict(changes), f"at @3 {points_of(_at_3(changes))}")


def _leaves_unchanged(claim: str, changes: Sequence[Difference]) -> str:
    at_3 = _at_3(changes)
    interval = f"95% interval {100 * at_3.low:+.1f} to {100 * at_3.high:+.1f}"
    return finding(claim, unchanged(changes), f"at @3 {points_of(at_3)}, {interval}")


def _at_3(changes: Sequence[Difference]) -> Difference:
    return next(d for d in changes if parse(d.measure).k == 3)  # type: ignore[attr-defined]


def _agreement(diagnosis: Diagnosis, clicks: str) -> str:
    every, tied = diagnosis.agreement(clicks)
    return finding(
        f"λ of {clicks} agrees with λL more often on clicked pairs of equal grade than on all pairs (Figure 2)",
        "yes" if tied > every else "no",
        f"{100 * tied:.1f}% of documents against {100 * every:.1f}%, mean over rounds; 15 points in the paper",
    )


def _low_grades(diagnosis: Diagnosis) -> str:
    share = diagnosis.low_grade_share()
    said = "yes" if share > 0.7 else "no"
    if max(diagnosis.grades) < 3:
        said = "not testable: there are no other grades to pair with"
    return finding(
        "Documents of grade 0 and 1 give over 70% of λ of highly relevant ones (Figure 3a)",
        said,
        f"{100 * share:.1f}%, mean over rounds; highly relevant is here {diagnosis.highly_relevant}",
    )


def _on_shares(results: Results, baseline: str) -> str:
    """Figure 7: the linear schedule against a baseline, trained on shares of the data."""
    before, after = results.grown(baseline, NDCG(3)), results.grown(LINEAR, NDCG(3))
    tested = corrected(
        compared({NDCG(3): b}, {NDCG(3): a}, [NDCG(3)])[0]
        for b, a in zip(before[:-1], after[:-1], strict=True)
    )
    text = "; ".join(f"{share:.0%}: {points_of(d)}" for share, d in zip(SHARES, tested, strict=True))
    return finding(
        f"{LINEAR} beats {baseline} at @3 on smaller training sets (Figure 7)", verdict(tested), text
    )


def _what_was_run(results: Results) -> str:
    setting = results.setting
    outcomes = [o for runs in results.runs.values() for o in runs.values()]
    outcomes += [outcome for _, outcome in results.shares.values()]
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    return f"""\
- {len(outcomes)} runs, {minutes:.0f} minutes of one core in all, of {setting.rounds} rounds with {setting.num_leaves} \
leaves a tree.
- {report.versions("lightgbm", "numpy")}; one thread a run, seed {setting.seed}.
- Each run is validated every {setting.every} rounds by mean NDCG@3; run and number of rounds are selected for each \
system and fold on the validation part alone, the first of equals. Each run scores the test part at its own best \
checkpoint, and only the selected run's scores are measured.
- Rows are shuffled inside each query with the seed, so that round 0, where all scores tie, does not start from the \
order of the file. Training queries without a relevant document are left out.
- Test queries of all folds are pooled. A test query without a relevant document counts as NDCG 0, one without clicks \
as CNDCG 0, for every system: it lowers all means alike and adds ties to the tests. The paper does not say how it \
counts them.
- Selected parameters differ from fold to fold, and folds share training data: p-values are about these models, not \
about other draws of training data.
- Newton: least-squares splits, Newton leaves ΣλΣμ⁻¹ (MART, the paper's baseline). Gradient descent: λ of each query \
over its standard deviation, leaves of mean λ. For reference also {NATIVE}, and λL with LightGBM's \
own steps, splits and leaves by gradient over hessian; the paper has neither."""


def _grids(grid: Grid) -> str:
    def values(some: Sequence[float]) -> str:
        return ", ".join(f"{value:g}" for value in some)

    return f"""\
**Chosen after a look at test figures:** the learning rates. They were widened once, after a coarse run on mq2008 \
(`--quick`), whose test figures were on the page, had selected rates at the edge of the grid. Everything else was \
fixed before the first run.

- Learning rate: {values(grid.rates)} (for gradient descent: with leaves of mean λ of unit spread). The paper: 0.2, 0.5.
- Least documents in a leaf: {values(grid.documents)}. The paper's 6000, 8000 and 10000 are for 19 million documents.
- Graded: w of {values(grid.click_weights)}. Iteration-dependent: w0 of {values(grid.starts)}; η of \
{values(grid.exponential_rates)} (exponential), {values(grid.linear_rates)} (linear).
- Blended systems take the {grid.reused} best pairs of learning rate and leaf size of their baseline, by validation on \
the same fold: Newton's for graded, gradient descent's for iteration-dependent ones.
- Figure 7 trains with the parameters that were selected on all the training data.
- LightGBM estimates documents in a leaf from hessians: exactly for Newton and gradient descent here, roughly for the \
reference systems."""


def _selected(results: Results) -> str:
    rows = []
    for system in results.systems:
        for fold in results.data.folds:
            trial, outcome = results.selected(system.name, fold)
            objective = "the engine's own" if trial.objective is None else f"`{trial.objective!r}`"
            n = len(results.runs[system.name, fold.name])
            row = [system.name, fold.name, objective, f"{trial.rate:g}", str(trial.documents)]
            best = outcome.rounds[outcome.valid.argmax()]
            rows.append([*row, str(best), f"{100 * outcome.valid.max():.2f}", str(n)])
    header = ["System", "Fold", "Objective", "Rate", "Documents", "Rounds", "Validation NDCG@3", "of runs"]
    return table(
        header,
        rows,
        "Rounds is the selected checkpoint: where it is the last one, more rounds might do better (`--rounds`). "
        "Validation figures are the best of all runs and checkpoints, hence optimistic.",
    )
