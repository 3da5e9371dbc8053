"""``lambdaboost report``."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Option

from lambdaboost._installed import install_command
from lambdaboost.cli import options as opt
from lambdaboost.cli.console import ERR, note, tell
from lambdaboost.cli.evaluate import Scored, score_file
from lambdaboost.engines import refusal
from lambdaboost.evaluation import report as write_report
from lambdaboost.evaluation.charts import has_matplotlib
from lambdaboost.explanation import Explanation, explain

# Entries of a model's description that are not on the page, or elsewhere on it.
HIDDEN = {"categories", "columns", "history", "measures", "tuning"}
NAMED = opt.parsed_by(opt.read_named)
MODEL = f"{opt.MODEL} With its name on the page; may be repeated."
SCORES = "Scores, one per line in the order of FILE, with their name on the page; may be repeated."


def report(
    file: Annotated[Path, opt.argument("FILE", "File with the grades.")],
    model: Annotated[list[Any] | None, Option(metavar="[NAME=]MODEL", parser=NAMED, help=MODEL)] = None,
    scores: Annotated[list[Any] | None, Option(metavar="[NAME=]SCORES", parser=NAMED, help=SCORES)] = None,
    measure: opt.Measures = None,
    query: opt.Query = "qid",
    label: opt.Label = "label",
    source: opt.Sources = None,
    position: opt.Position = None,
    weight: opt.Weight = None,
    drop: opt.Drop = None,
    unseen: opt.UnseenOption = None,
    seed: opt.TieSeed = None,
    out: opt.Page = opt.PAGE,
    overwrite: opt.Overwrite = False,
) -> None:
    """Compare models or scores on a file, as an HTML page with significance tests and charts.

    The page is one file without scripts, for desktop, phone, dark mode and print. All systems are compared with the
    first. Charts need matplotlib (the extra "plots").

    Example: lambdaboost report test.txt --model plain=a.txt --model graded=b.txt --out report.html
    """
    systems = [*(model or ()), *(scores or ())]
    names = [name for name, _ in systems]
    opt.check_outputs(overwrite, [file, *(path for _, path in systems)], out)
    if not systems:
        raise ValueError("no systems: give --model MODEL or --scores SCORES, preferably several")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two systems are called {twice[0]!r}: name them, as in NAME=PATH")
    if not has_matplotlib():
        note(f"charts are left out: they need matplotlib, {install_command('matplotlib')}")
    columns = opt.columns_of(query, label, source, position, weight, drop=drop)
    with ERR.status("measuring …"):
        scored = score_file(file, columns, dict(model or ()), dict(scores or ()), measure, unseen, seed)
        q, measures, found, models, *_ = scored
        worst = filter(None, (explain_worst(scored, name) for name in models))
        ties = "that of the rows" if seed is None else f"random, seed {seed}"
        facts: dict[str, Any] = {"Measured on": file.name, "Order of ties": ties}
        for name, path in systems:
            facts[name] = {"file": path.name}
            if name in models:
                about = models[name].about.items()
                facts[name] |= {key: of for key, of in about if key not in HIDDEN and of not in (None, {})}
        write_report(
            out,
            found,
            q,
            measures,
            histories={name: m.about["history"] for name, m in models.items() if m.about.get("history")},
            explanations=dict(worst),
            run=facts,
            title=f"Ranking report: {file.name}",
        )
    tell(str(out))


def explain_worst(scored: Scored, name: str) -> tuple[str, Explanation] | None:
    """Why the model ranks two neighbours the wrong way round in its worst query, and a text that says which.

    Worst by the first measure. Of its neighbours those are taken that stand highest; None if all are in order, or the
    engine cannot explain the model.
    """
    q, measure, scores = scored.queries, scored.measures[0], scored.scores[name]
    # A query on which the measure is undefined is not its worst.
    values = np.nan_to_num(replace(measure, empty=math.nan).per_query(scores, q), nan=math.inf)
    values[q.query_weight == 0] = math.inf
    query = int(values.argmin())
    first, end = q.offsets[query], q.offsets[query + 1]
    order = first + np.argsort(-scores[first:end], kind="stable")
    labels = q.labels[measure.source][order]
    wrong = np.flatnonzero(labels[:-1] < labels[1:])
    if not wrong.size or math.isinf(values[query]):
        return None
    rank = int(wrong[0])
    above, below = (int(row) for row in scored.rows[order[rank : rank + 2]])
    which = query if q.ids is None else q.ids[query]
    text = (
        f"Query {which}, where {measure!r} of {name} is lowest ({values[query]:.4f}): row {above}, with "
        f"{labels[rank]:g} in {measure.source}, is at rank {rank + 1}, above row {below} with {labels[rank + 1]:g}; "
        "rows count from 0."
    )
    try:
        return text, explain(scored.models[name], scored.table, above=above, below=below)
    except Exception as error:  # LightGBM has no contributions for linear trees
        if (said := refusal(error)) is None:
            raise
        note(f"the worst query of {name} is not explained: {said}")
        return None
