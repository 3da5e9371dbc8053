"""``lambdaboost evaluate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from lambdaboost.cli import options as opt
from lambdaboost.cli.console import ERR
from lambdaboost.cli.evaluation import mean_measures, print_measures, score_file


def evaluate(
    file: Annotated[Path, opt.argument("FILE", "File with the grades.")],
    scores: Annotated[Path | None, opt.existing("Scores, one per line in the order of FILE.")] = None,
    model: Annotated[Path | None, opt.existing(opt.MODEL)] = None,
    measure: opt.Measures = None,
    query: opt.Query = "qid",
    label: opt.Label = "label",
    source: opt.Sources = None,
    position: opt.Position = None,
    weight: opt.Weight = None,
    document: opt.Document = None,
    categorical: opt.Categorical = None,
    drop: opt.Drop = None,
    unseen: opt.UnseenOption = None,
    seed: opt.TieSeed = None,
    as_json: opt.Json = False,
) -> None:
    """Evaluate scores or a model on a file.

    A model of train knows its columns; options replace those of its labels. Scores that tie rank in the order of rows,
    as in Python; where that decides, a warning says so.

    Example: lambdaboost evaluate test.txt --model model.txt --measure MAP
    """
    if (scores is None) == (model is None):
        raise ValueError("give either --scores or --model")
    columns = opt.columns_of(query, label, source, position, weight, document, categorical, drop)
    with ERR.status("measuring …"):
        models, files = opt.given(found=model), opt.given(found=scores)
        q, measures, found, *_ = score_file(file, columns, models, files, measure, unseen, seed)
        means = mean_measures(measures, found["found"], q)
    if as_json:
        about = {"file": file.name, "queries": q.n_queries, "documents": q.n_documents, "measures": means}
        print(json.dumps(about, indent=2, allow_nan=False))
    else:
        print_measures({file.name: means}, {file.name: q}, measures)
