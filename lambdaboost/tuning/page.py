"""The HTML page of a search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.datasets._files import check_place, replacing
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.evaluation.report import words
from lambdaboost.evaluation.report.page import Page
from lambdaboost.tuning import pictures
from lambdaboost.tuning.choice import OPTIMISM, Choice
from lambdaboost.tuning.front import Front
from lambdaboost.tuning.trial import Trial


def write_page(path: str | Path, tuned: Any) -> Path:
    """Write the page of a `Tuned`; an existing file is replaced only when it is complete."""
    path = Path(path)
    check_place("path", path)
    page = Page("Tuning report", tuned.verdict)
    _certainty(page, tuned)
    page.section("What was tried")
    page.pictures([pictures.tried(tuned.results, tuned.choice), pictures.curves(tuned.choice)])
    page.table(_trials(tuned))
    if tuned.left_out:
        page.text("Left out, because they cannot train on these data:")
        page.points((f"{name}:", reason) for name, reason in tuned.left_out.items())
    _importance(page, tuned.importance)
    if tuned.trade_off is not None:
        _trade_off(page, tuned.trade_off, tuned.choice)
    _model(page, tuned)
    content = page.html().encode(errors="replace")
    with replacing(path) as file:
        file.write(content)
    return path


def _certainty(page: Page, tuned: Any) -> None:
    choice: Choice = tuned.choice
    page.section("How sure the choice is")
    page.text(tuned.verdict)
    simplest = choice.name(choice.simplest)
    page.text(
        f"The simplest within one standard error of the best is {simplest}. The model is {choice.name(tuned.chosen)}."
    )
    page.table(_finalists(choice))
    if tuned.held_out is not None:
        page.text(f"Nested cross-validation of the whole search gives {tuned.held_out}.")
    page.text(OPTIMISM)


def _finalists(choice: Choice) -> Table:
    header = (
        "Candidate",
        "Trials",
        repr(choice.measure),
        "Difference",
        "95% interval",
        "p (adjusted)",
        "Within one error",
    )
    rows = [_finalist(choice, trial) for trial in choice.finalists]
    n = int((~np.isnan(choice.best.outcome.values[0])).sum())
    caption = (
        f"The best trial of each candidate, from best to worst: means over {n} validation queries, times 100, and "
        "differences from the best. p-values are of paired t-tests, adjusted by Holm's method; intervals are not."
    )
    return Table(header, tuple(rows), caption)


def _finalist(choice: Choice, trial: Trial) -> tuple[Cell, ...]:
    mean = Cell(f"{100 * trial.means(choice.weight)[0]:.2f}")
    trials = Cell(str(choice.tried[trial.candidate]))
    if choice.comparison is None or trial is choice.best:
        return (Cell(choice.name(trial), "bold"), trials, mean, Cell("–"), Cell("–"), Cell("–"), Cell("yes"))
    difference = choice.comparison[choice.name(trial), choice.measure]
    low, high = difference.interval()
    found = choice.comparison.significance[choice.name(trial), choice.measure]
    interval = f"{100 * low:+.2f} to {100 * high:+.2f}" if np.isfinite(low) else "–"
    return (
        Cell(choice.name(trial)),
        trials,
        mean,
        found.marked(f"{100 * difference.mean:+.2f}"),
        Cell(interval),
        Cell(f"{found.adjusted:.3g}"),
        Cell("yes" if choice.within_one_error(trial) else "no"),
    )


def _trials(tuned: Any) -> Table:
    names = [repr(measure) for measure in tuned.measures]
    rows = []
    for trial in sorted(
        tuned.results, key=lambda trial: -np.nan_to_num(trial.means(tuned.choice.weight)[0], nan=-1)
    ):
        means = trial.means(tuned.choice.weight) if trial.is_complete else [np.nan] * len(names)
        candidate = tuned.task.candidates[trial.candidate]
        knobs = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in trial.knobs.items())
        rows.append(
            (
                Cell(f"{trial.number}: {candidate.name}"),
                *(Cell("–" if np.isnan(mean) else f"{100 * mean:.2f}") for mean in means),
                Cell(" ".join(map(str, trial.outcome.rounds)) or "–"),
                Cell(f"{trial.outcome.seconds:.1f}"),
                Cell(knobs),
            )
        )
    caption = "All trials, from best to worst, means times 100; – for trials stopped early. Rounds: the number kept."
    return Table(("Trial", *names, "Rounds", "Seconds", "Settings"), tuple(rows), caption)


def _importance(page: Page, shares: Mapping[str, float]) -> None:
    page.section("Importance of the choices")
    if not shares:
        page.text("Too few trials are complete to say.")
        return
    page.pictures([pictures.importance(shares)])
    page.table(
        Table(
            ("Choice", "Share, %"),
            tuple((Cell(name), Cell(f"{100 * share:.0f}")) for name, share in shares.items()),
            "Share of the variance among complete trials that a choice explains, by a random forest (fANOVA).",
        )
    )


def _trade_off(page: Page, found: Front, choice: Choice) -> None:
    page.section("Trade-off")
    singles = {
        f"best {measure!r}": found.points[int(found.points[:, at].argmax())]
        for at, measure in enumerate(found.measures[:2])
    }
    page.pictures([pictures.front(found, singles)])
    rows = tuple(
        (
            Cell(f"{trial.number}: {choice.name(trial)}", "bold" if trial is found.balanced else "plain"),
            *(Cell(f"{100 * mean:.2f}") for mean in trial.means(found.weight)),
        )
        for trial in found.on
    )
    caption = (
        "The front: trials that no other beats on all measures, means times 100. Bold: the highest second measure "
        f"without a significant loss of the first. Hypervolume above the lowest values: {found.hypervolume:.3g}."
    )
    page.table(Table(("Trial", *map(repr, found.measures)), rows, caption))
    if found.loss:
        page.text(f"{found.loss[0].upper()}{found.loss[1:]}")


def _model(page: Page, tuned: Any) -> None:
    page.section("The model")
    page.facts(
        {
            "Engine": tuned.engine,
            "Objective": repr(tuned.objective),
            "Leaves": tuned.leaves,
            "Rounds": str(tuned.rounds),
            "Trained on": "all data" if tuned.refit else "the training part",
        }
    )
    page.text("These lines train it again:")
    page.code(tuned.script())
    for name, part in zip(("Training data", "Validation data"), tuned.data, strict=True):
        if part is not None:
            page.heading(name)
            page.facts(words.data_facts(part.queries))
    page.heading("Software")
    trainings = sum(trial.trainings for trial in tuned.results)
    page.facts(
        {"Written": words.today(), "Took": f"{trainings} trainings, {tuned.seconds:.0f} s"} | words.software()
    )
