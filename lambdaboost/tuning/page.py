"""The HTML page of a search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._files import check_place
from lambdaboost.evaluation.comparison.table import Table
from lambdaboost.evaluation.reports.charts import trade_off
from lambdaboost.evaluation.reports.page import COLOURS, Page, Picture, label, label_axes
from lambdaboost.evaluation.reports.tables import data_facts, run_facts
from lambdaboost.tuning.keep import Kept


def write_page(path: str | Path, tuned: Any) -> Path:
    """Write the page of a `Tuned`; an existing file is replaced only when it is complete."""
    path = Path(path)
    check_place("path", path)
    page = Page("Tuning report", tuned.verdict)
    if tuned.kept is not None:
        _kept(page, tuned.kept)
    _certainty(page, tuned)
    _trials(page, tuned)
    if tuned.trade_off is not None:
        _trade_off(page, tuned)
    _model(page, tuned)
    page.write(path)
    return path


def _certainty(page: Page, tuned: Any) -> None:
    choice = tuned.choice
    page.section("How sure the choice is")
    page.text(
        f"The simplest within one standard error of the best is {choice.name(choice.simplest)}. The model is "
        f"{choice.name(tuned.chosen)}. {choice.caveat}"
    )
    if tuned.worth is not None:
        page.text(f"{tuned.worth} For each of some groups of queries a setting was chosen by the others.")
    caption = (
        f"The best trial of each candidate, by shrunken means: means over {choice.n_queries} validation queries, "
        "differences from the best with 95% intervals, and p-values of paired t-tests, of which only these are "
        "adjusted, by Holm's method."
    )
    columns = ["candidate", "trials", repr(choice.measure), "shrunken mean", "difference", "low", "high", "p"]
    page.table(table_of(tuned.finalists[[*columns, "within one standard error"]], caption))
    if tuned.held_out is not None:
        page.text(f"Nested cross-validation of the whole search gives {tuned.held_out}.")


def _trials(page: Page, tuned: Any) -> None:
    page.section("What was tried")
    frame = tuned.trials.sort_values(repr(tuned.measures[0]), ascending=False)
    caption = (
        "All trials, from best to worst; those stopped early with their means over the folds until then."
    )
    page.table(table_of(frame.drop(columns=["objective"]), caption))
    if tuned.left_out:
        page.text("Left out, because they cannot train on these data:")
        page.points((f"{name}:", reason) for name, reason in tuned.left_out.items())


def _trade_off(page: Page, tuned: Any) -> None:
    page.section("Trade-off")
    if tuned.trade_off.comparison is not None:
        page.pictures([trade_off(tuned.trade_off.comparison, *tuned.measures[:2])])
    caption = (
        "The front: trials that no other beats on all measures. The model is the one with the highest second measure "
        "without a significant loss of the first, unless another was asked for."
    )
    columns = ["trial", "candidate", *map(repr, tuned.measures), tuned.front.columns[-1]]
    page.table(table_of(tuned.front[columns], caption))


def _kept(page: Page, kept: Kept) -> None:
    first, second = map(repr, kept.measures)
    page.section(f"{first} kept, {second} raised")
    page.pictures([_front(kept)])
    caption = (
        f"The best setting of the search with a rising weight of LambdaRank of {second}: means over held-out queries, "
        f"the loss of {first} from the first goal alone, the upper end of its one-sided 95% interval, and p of the "
        f"paired t-test that it is {kept.keep:g} or more. The tests end with the first that is not proven."
    )
    page.table(table_of(kept.frame, caption))


def _front(kept: Kept) -> Picture:
    """The means of both measures by every trade-off."""
    x, y = 100 * np.array(kept.means).T
    first, second = map(repr, kept.measures)

    def draw(axes: Any) -> None:
        axes.plot(x, y, color=COLOURS[0], marker="o", markersize=4, linewidth=1, label="trade-offs")
        tested = slice(1, 1 + len(kept.steps))
        axes.plot(x[tested], y[tested], "s", color=COLOURS[0], markersize=8, fillstyle="none", label="tested")
        axes.plot(
            x[kept.chosen],
            y[kept.chosen],
            "o",
            color="#1a1a1a",
            markersize=15,
            fillstyle="none",
            label="chosen",
        )
        limit = x[0] - 100 * kept.keep
        axes.axvline(limit, color=COLOURS[1], linewidth=0.8, linestyle="--", label="tolerance")
        label_axes(axes, f"Mean {label(first)} × 100", f"Mean {label(second)} × 100")

    caption = (
        f"{first} against {second} by the weight of the second goal, from the first goal alone; squares were tested, "
        "the ring is around the model. What counts is the test, not on which side of the tolerance a mean lies."
    )
    points = zip(kept.weights, x, y, strict=True)
    return Picture(draw, caption, "; ".join(f"weight {w:g}: {a:.2f} and {b:.2f}" for w, a, b in points))


def _model(page: Page, tuned: Any) -> None:
    page.section("The model")
    page.text("These lines train it again:")
    page.code(tuned.script())
    for name, part in tuned.request.given.items():
        page.heading(f"Data of {name}")
        page.facts(data_facts(part.queries))
    page.heading("Software")
    trainings = sum(trial.folds for trial in tuned.results)
    page.facts({"Took": f"{trainings} trainings, {tuned.seconds:.0f} s"} | run_facts())


def table_of(frame: Any, caption: str = "") -> Table:
    """A frame as a table: numbers with four digits, nothing where there is none."""
    rows = tuple(tuple(map(_shown, row)) for row in frame.itertuples(index=False))
    return Table(tuple(name.replace("_", " ") for name in frame.columns), rows, caption)


def _shown(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if np.isfinite(value) else "–"
    return str(value)
