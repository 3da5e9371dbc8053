"""``lambdaboost predict``."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from lambdaboost._files import replacing
from lambdaboost.cli import model_file
from lambdaboost.cli.console import ERR
from lambdaboost.datasets import Columns
from lambdaboost.datasets.columns import names_of_rows
from lambdaboost.datasets.tables import Table


def run(model: Path, file: Path, out: Path | None, ids: bool, columns: Columns) -> None:
    """Write one score per line, with `ids` also its query and document."""
    loaded = model_file.load(model, columns)
    with ERR.status("reading …"):
        data = loaded.columns.open(file)
    assert data is not None
    # The shortest text that parses to the same number in the engine's precision, so ties stay ties.
    scores = [str(score) for score in loaded.scored(data)]
    text = _submission(loaded.columns, data, scores) if ids else "".join(f"{score}\n" for score in scores)
    if out is None:
        sys.stdout.write(text)
        return
    with replacing(out) as written:
        written.write(text.encode())


def _submission(columns: Columns, data: Table, scores: list[str]) -> str:
    """CSV with a header: the query, the document and the score of each row."""
    queries, named = names_of_rows(columns, data)
    documents = range(1, 1 + len(scores)) if named is None else named.tolist()
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow((columns.query, columns.document or "document", "score"))
    lines.writerows(zip(queries.tolist(), documents, scores, strict=True))
    return text.getvalue()
