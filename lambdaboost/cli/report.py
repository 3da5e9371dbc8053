"""``lambdaboost report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from lambdaboost._installed import install_command
from lambdaboost.cli import options as of
from lambdaboost.cli.console import ERR, note, tell
from lambdaboost.cli.measuring import check_labels, read_scores
from lambdaboost.cli.models import open_labelled, read_model
from lambdaboost.cli.outputs import check_outputs
from lambdaboost.evaluation import report as write_report
from lambdaboost.evaluation.charts import has_matplotlib
from lambdaboost.evaluation.naming import default_measures

# Entries of a model's description that are not on the page, or elsewhere on it.
HIDDEN = {"categories", "columns", "history", "measures", "tuning"}
NAMED = of.parsed_by(of.read_named)
MODEL = f"{of.MODEL} With its name on the page; may be repeated."
SCORES = "Scores, one per line in the order of FILE, with their name on the page; may be repeated."


def report(
    file: Annotated[Path, of.argument("FILE", "File with the grades.")],
    model: Annotated[list[Any] | None, Option(metavar="[NAME=]MODEL", parser=NAMED, help=MODEL)] = None,
    scores: Annotated[list[Any] | None, Option(metavar="[NAME=]SCORES", parser=NAMED, help=SCORES)] = None,
    measure: of.Measures = None,
    query: of.Query = "qid",
    label: of.Label = "label",
    source: of.Sources = None,
    position: of.Position = None,
    weight: of.Weight = None,
    drop: of.Drop = None,
    unseen: of.UnseenOption = None,
    seed: of.Seed = 0,
    out: of.Page = of.PAGE,
    overwrite: of.Overwrite = False,
) -> None:
    """Compare models or scores on a file, as an HTML page with significance tests and charts.

    The page is one file without scripts, for desktop, phone, dark mode and print. Pictures need matplotlib, the
    optional extra "plots". The others are compared with the first model.

    Example: lambdaboost report test.txt --model plain=a.txt --model graded=b.txt --out report.html
    """
    systems = [*(model or ()), *(scores or ())]
    names = [name for name, _ in systems]
    check_outputs(overwrite, [file, *(path for _, path in systems)], out=[out])
    if not systems:
        raise ValueError("no systems: give --model MODEL or --scores SCORES, preferably several")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two systems are called {twice[0]!r}: name them, as in NAME=PATH")
    if not has_matplotlib():
        note(f"the page has no pictures: they need matplotlib, {install_command('matplotlib')}")
    options = of.columns_of(query, label, source, position, weight, drop=drop, unseen=unseen)
    with ERR.status("measuring …"):
        models = {name: read_model(path, options) for name, path in model or ()}
        table, columns = open_labelled(file, options, [*models.values()])
        q, _, rows = columns.labels(table)
        check_labels(measure or default_measures(q), q, file, rows)
        found = {name: one.scores(table) for name, one in models.items()}
        found |= {name: read_scores(path, len(table)) for name, path in scores or ()}
        order = q.shuffled_rows(seed)  # of ties, so that a file sorted by grade has no advantage
        found = {name: (of_rows if rows is None else of_rows[rows])[order] for name, of_rows in found.items()}
        facts: dict[str, Any] = {"Measured on": file.name, "Order of ties": f"seed {seed}"}
        for name, path in systems:
            about = models[name].about.items() if name in models else ()
            shown_facts = {
                key: value for key, value in about if key not in HIDDEN and value not in (None, {})
            }
            facts[name] = {"file": path.name, **shown_facts}
        write_report(
            out,
            found,
            q.reordered(order),
            measure or None,
            histories={name: m.about["history"] for name, m in models.items() if m.about.get("history")},
            run=facts,
            title=f"Ranking report: {file.name}",
        )
    tell(str(out))
