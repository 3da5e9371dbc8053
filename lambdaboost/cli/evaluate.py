"""``lambdaboost evaluate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from lambdaboost.cli import options as of
from lambdaboost.cli.console import ERR
from lambdaboost.cli.measuring import check_labels, figures_of, print_figures, read_scores
from lambdaboost.cli.models import open_labelled, read_model
from lambdaboost.evaluation.naming import default_measures


def evaluate(
    file: Annotated[Path, of.argument("FILE", "File with the grades.")],
    scores: Annotated[Path | None, of.existing("Scores, one per line in the order of FILE.")] = None,
    model: Annotated[Path | None, of.existing(of.MODEL)] = None,
    measure: of.Measures = None,
    query: of.Query = "qid",
    label: of.Label = "label",
    source: of.Sources = None,
    position: of.Position = None,
    weight: of.Weight = None,
    document: of.Document = None,
    categorical: of.Categorical = None,
    drop: of.Drop = None,
    unseen: of.UnseenOption = None,
    seed: of.Seed = 0,
    as_json: of.Json = False,
) -> None:
    """Evaluate scores or a model on a file.

    A model of train knows its columns; options replace those of labels. Ties are in random order.

    Example: lambdaboost evaluate test.txt --model model.txt --measure MAP
    """
    if (scores is None) == (model is None):
        raise ValueError("give either --scores or --model")
    options = of.columns_of(query, label, source, position, weight, document, categorical, drop, unseen)
    models = [] if model is None else [read_model(model, options)]
    with ERR.status("measuring …"):
        table, columns = open_labelled(file, options, models)
        q, _, rows = columns.labels(table)
        measures = tuple(dict.fromkeys(measure or default_measures(q)))
        check_labels(measures, q, file, rows)
        values = models[0].scores(table) if scores is None else read_scores(scores, len(table))
        figures = figures_of(measures, values if rows is None else values[rows], q, seed)
    if as_json:
        sizes = {"queries": q.n_queries, "documents": q.n_documents}
        found = {"file": file.name, **sizes, "measures": figures}
        print(json.dumps(found, indent=2, allow_nan=False))
    else:
        print_figures({file.name: figures}, {file.name: q}, measures)
