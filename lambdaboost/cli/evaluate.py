"""``lambdaboost evaluate``."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from lambdaboost.cli import model_file
from lambdaboost.cli.columns import naming_file, parse_columns
from lambdaboost.cli.console import ERR, print_table, tell
from lambdaboost.cli.measuring import (
    Figures,
    check_columns,
    figures_of,
    figures_table,
    json_figures,
    parse_measures,
    read_scores,
    remark,
)
from lambdaboost.datasets import Columns, Queries
from lambdaboost.evaluation import Measure, from_runs, parse, read_trec_qrels, read_trec_run
from lambdaboost.evaluation.naming import default_measures


def run(
    file: Path | None,
    scores: Path | None,
    model: Path | None,
    trec_run: Path | None,
    qrels: Path | None,
    measure: tuple[str, ...],
    columns: Columns,
    seed: int,
    as_json: bool,
) -> None:
    """Print measures of scores, of a model or of a TREC run."""
    measures = parse_measures(measure)
    if trec_run is not None or qrels is not None:
        others = {"FILE": file, "--scores": scores, "--model": model}
        mixed = [name for name, path in others.items() if path is not None]
        mixed += ["an option of columns"] if columns != parse_columns() else []
        if mixed:
            raise ValueError(f"{', '.join(mixed)} cannot be combined with --run and --qrels: omit it")
        if trec_run is None or qrels is None:
            raise ValueError("--run and --qrels belong together: give both")
        q, figures = _of_run(trec_run, qrels, measures)
        files = {"file": trec_run.name, "qrels": qrels.name}
    elif file is None:
        raise ValueError(
            "the judgments are missing: give FILE with --scores or --model, or --run with --qrels"
        )
    else:
        q, figures = _of_file(file, scores, model, measures, columns, seed)
        files = {"file": file.name}
    if as_json:
        sizes = {"queries": q.n_queries, "documents": q.n_documents}
        found = files | sizes | {"measures": json_figures(figures)}
        print(json.dumps(found, indent=2, allow_nan=False))
    else:
        print_table(*figures_table({files["file"]: figures}))
        tell(remark(files["file"], q, map(parse, figures)))


def _of_run(run: Path, qrels: Path, measures: tuple[Measure, ...]) -> tuple[Queries, Figures]:
    check_columns(measures, parse_columns())
    with ERR.status("reading …"):
        scores, q = from_runs(read_trec_qrels(qrels), {run.name: read_trec_run(run)})
    # Not shuffled: rows are in the order in which trec_eval ranks ties.
    return q, {
        repr(measure): float(measure(scores[run.name], q)) for measure in measures or default_measures(q)
    }


def _of_file(
    file: Path,
    scores: Path | None,
    model: Path | None,
    measures: tuple[Measure, ...],
    options: Columns,
    seed: int,
) -> tuple[Queries, Figures]:
    if (scores is None) == (model is None):
        raise ValueError("give either --scores SCORES or --model MODEL")
    models = [] if model is None else [model_file.load(model, options)]
    with ERR.status("reading …"):
        columns, data = model_file.label_columns(options, models, file)
        check_columns(measures, columns)
        q, _, rows = columns.labels(data)
    s = models[0].scored(data) if scores is None else read_scores(scores, q.n_documents, file)
    s = s if rows is None else s[rows]
    naming = partial(naming_file, file, rows)
    return q, figures_of(measures or default_measures(q), s, q, seed, naming)
