"""``lambdaboost predict``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from lambdaboost._files import replacing
from lambdaboost.cli import options as opt
from lambdaboost.cli.console import ERR
from lambdaboost.cli.evaluate import open_labelled, read_model
from lambdaboost.datasets import Columns
from lambdaboost.datasets.table import Table


def predict(
    model: Annotated[Path, opt.argument("MODEL", opt.MODEL)],
    file: Annotated[Path, opt.argument("FILE", "File to score; needs no labels.")],
    out: Annotated[Path | None, Option(help="File to write; - or without it standard output.")] = None,
    ids: Annotated[bool, Option("--ids", help="Write CSV: query, document and score of each row.")] = False,
    query: opt.Query = "qid",
    label: opt.Label = "label",
    document: opt.Document = None,
    drop: opt.Drop = None,
    unseen: opt.UnseenOption = None,
    overwrite: opt.Overwrite = False,
) -> None:
    """Score the documents of a file, one score per line; higher scores rank first.

    With --ids each line has the query and the document too, under the names of their columns: a submission. Documents
    without a name are numbered from 1.

    A plain model of LightGBM or XGBoost takes the columns of a table by name if it has feature names, or if the table
    has the engine's own (Column_0, … or f0, …), else in order, without those of --query, --label and --drop.

    Example: lambdaboost predict model.txt test.txt --out scores.txt

    Example: lambdaboost predict model.txt test.csv --ids --document prop_id --out submission.csv
    """
    if out == Path("-"):
        out = None
    if out is not None:
        opt.check_outputs(overwrite, [model, file], out)
    options = opt.columns_of(query, label, document=document, drop=drop)
    loaded = read_model(model, options, unseen)
    with ERR.status("reading …"):
        table, columns = open_labelled(file, options, [loaded])
    # The shortest text that parses to the same number in the engine's precision, so ties stay ties.
    scores = [str(score) for score in loaded.predict(table)]
    text = "".join(f"{score}\n" for score in scores)
    if ids:
        text = submission(columns, table, scores)
    if out is not None:
        with replacing(out) as written:
            written.write(text.encode())
    else:
        # An error where an output lacks characters of a name, in whose place print would write codes.
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")  # None where it is closed
        print(text, end="")


def submission(columns: Columns, table: Table, scores: list[str]) -> str:
    """CSV with a header: the query, the document and the score of each row, in the order of the file."""
    import pandas as pd

    names = replace(columns, label=None, sources={}, rates=(), position=None, weight=None)
    q, documents, rows = names.read_labels(table, np.zeros(len(scores)))
    ids = q.ids
    if ids is None:
        ids = np.arange(1, 1 + q.n_queries)
    if rows is None:
        rows = np.arange(len(scores))
    named = 1 + rows if documents is None else documents
    frame = pd.DataFrame({"query": ids[q.query_of_row], "document": named}, index=rows)
    header = [columns.query, columns.document or "document", "score"]
    text: str = (
        frame.sort_index().assign(score=scores).to_csv(index=False, header=header, lineterminator="\n")
    )
    return text
