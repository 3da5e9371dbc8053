"""``lambdaboost evaluate``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lambdaboost.cli import model_file
from lambdaboost.cli.columns import Columns
from lambdaboost.cli.console import ERR, OUT, print_json, tell
from lambdaboost.cli.measuring import (
    check_measures,
    figures_of,
    figures_table,
    json_figures,
    parse_measures,
    remark,
)
from lambdaboost.evaluation.report.default_measures import default_measures


def run_evaluate(
    file: Path | None,
    scores_path: Path | None,
    model_path: Path | None,
    measure_texts: tuple[str, ...],
    options: Columns,
    seed: int,
    as_json: bool,
) -> None:
    """Print measures of scores or of a model."""
    if file is None:
        raise ValueError(
            "the judgments are missing: give FILE with --scores or --model, or --run with --qrels"
        )
    if (scores_path is None) == (model_path is None):
        raise ValueError("give either --scores SCORES or --model MODEL")
    measures = parse_measures(measure_texts)
    model = None if model_path is None else model_file.load(model_path, options)
    columns = options if model is None else model.columns
    check_measures(measures, columns)
    with ERR.status("reading …"):
        data = columns.opened(file)
        q = columns.queries(data)
    if model is not None:
        scores: NDArray[np.floating] = model.scores(data)
    else:
        assert scores_path is not None
        scores = data.as_grouped(read_scores(scores_path, q.n_documents, file))
    figures = figures_of(measures or default_measures(q), scores, q, seed)
    if as_json:
        print_json(
            {
                "file": file.name,
                "queries": q.n_queries,
                "documents": q.n_documents,
                "measures": json_figures(figures),
            }
        )
        return
    OUT.print(figures_table({file.name: figures}))
    tell(remark(file.name, q))


def read_scores(path: Path, n: int, of: Path) -> NDArray[np.float64]:
    """Read one finite score per line, one for each of the `n` documents."""
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    if len(lines) != n:
        raise ValueError(
            f"{path} has {len(lines)} lines, {of} has {n} documents: give one score per line, one for each document"
        )
    scores = np.empty(n)
    for i, line in enumerate(lines):
        try:
            scores[i] = float(line)
        except ValueError:
            scores[i] = np.nan
        if not np.isfinite(scores[i]):
            raise ValueError(f"{path}:{i + 1}: {line[:40]!r} is not a finite number; give one score per line")
    return scores
