"""``lambdaboost evaluate``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lambdaboost.cli import model_file
from lambdaboost.cli.columns import Columns
from lambdaboost.cli.console import ERR, OUT, print_json, tell
from lambdaboost.cli.measuring import (
    DEFAULT,
    check_sources,
    figures_of,
    figures_table,
    json_figures,
    parse_measures,
    remark,
)


def run_evaluate(
    file: Path | None,
    scores_path: Path | None,
    model_path: Path | None,
    measure_texts: tuple[str, ...],
    source_texts: tuple[str, ...],
    seed: int,
    as_json: bool,
) -> None:
    """Print measures of scores or of a model."""
    if file is None:
        raise ValueError(
            "give FILE with --scores or --model, or --run with --qrels: nothing says what is relevant"
        )
    if (scores_path is None) == (model_path is None):
        raise ValueError("give one of --scores SCORES and --model MODEL")
    if model_path is not None and source_texts:
        raise ValueError("--source belongs to --scores: a model knows its sources from its MODEL.json")
    measures = parse_measures(measure_texts or DEFAULT)
    model = None if model_path is None else model_file.load(model_path)
    columns = Columns.parse(source_texts, ()) if model is None else model.columns
    check_sources(
        {m.source: f"--measure {m!r}" for m in measures}, ["relevance", *(s.name for s in columns.sources)]
    )
    with ERR.status("reading …"):
        collection = columns.read(file)
    q = collection.queries
    if model is not None:
        scores: NDArray[np.floating] = model.scores(collection.features)
    else:
        assert scores_path is not None
        scores = read_scores(scores_path, q.n_documents, file)
    figures = figures_of(measures, scores, q, seed)
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
    """Scores of a text, one finite number a line, as many as there are documents."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if len(lines) != n:
        raise ValueError(
            f"{path} has {len(lines)} lines, {of} has {n} documents: give one score a line for each"
        )
    scores = np.empty(n)
    for i, line in enumerate(lines):
        try:
            scores[i] = float(line)
        except ValueError:
            scores[i] = np.nan
        if not np.isfinite(scores[i]):
            raise ValueError(f"{path}:{i + 1}: {line[:40]!r} is no finite number; give one score a line")
    return scores
