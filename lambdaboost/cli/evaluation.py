"""Scores of models and of score files, and tables of their measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import error_context, naming_rows
from lambdaboost._words import counted
from lambdaboost.callback import reads_positions
from lambdaboost.cli.console import print_table, tell
from lambdaboost.cli.models import Model, open_labelled, read_model
from lambdaboost.datasets import Columns, Queries
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.naming import default_measures

Means = dict[str, float | None]  # by measure; JSON has no NaN


def score_file(
    file: Path,
    columns: Columns,
    models: Mapping[str, Path],
    scores: Mapping[str, Path],
    measures: Any,
    unseen: str | None = None,
) -> tuple[Queries, tuple[Measure, ...], dict[str, NDArray[np.floating]], dict[str, Model]]:
    """The queries of a file, the measures (by default those of its labels), and the scores and models by name."""
    loaded = {name: read_model(path, columns, unseen) for name, path in models.items()}
    table, columns = open_labelled(file, columns, list(loaded.values()))
    q, _, rows = columns.split(table)
    chosen = tuple(dict.fromkeys(measures or default_measures(q)))
    check_labels(chosen, q, file, rows)
    found = {name: model.scores(table) for name, model in loaded.items()}
    found |= {name: read_scores(path, len(table)) for name, path in scores.items()}
    return q, chosen, {name: s if rows is None else s[rows] for name, s in found.items()}, loaded


def check_labels(
    readers: Iterable[Any], q: Queries, file: Path, rows: NDArray[np.int64] | None = None
) -> None:
    """Raise ValueError if an objective or a measure cannot read the labels or positions of a file.

    `rows` are the rows of the file, whose order the documents of `q` may not have.
    """

    def place(row: int) -> str:
        return f"row {1 + (row if rows is None else int(rows[row]))} of {file}"

    zeros = np.zeros(q.n_documents)
    for reader in readers:
        if lacks := [source for source in reader.sources if source not in q.labels]:
            raise ValueError(
                f"{reader!r} needs the label source {lacks[0]!r}: give its column as --source {lacks[0]}=COLUMN"
            )
        if reads_positions(reader) and q.positions is None:
            raise ValueError(f"{reader!r} needs positions: give their column as --position COLUMN")
        with naming_rows(place), error_context(repr(reader)):
            if isinstance(reader, Measure):
                reader(zeros, q)
            elif not isinstance(reader, NativeObjective):
                reader.gradient(zeros, q)


def mean_measures(measures: Sequence[Measure], scores: NDArray[np.floating], q: Queries, seed: int) -> Means:
    """The mean of each measure, with ties in random order, so that a file sorted by grade has no advantage."""
    rows = q.shuffled_rows(seed)
    shuffled = q.reordered(rows)
    values = {repr(measure): measure(scores[rows], shuffled) for measure in measures}
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def print_measures(
    means: Mapping[str, Means], queries: Mapping[str, Queries], measures: Sequence[Measure]
) -> None:
    """Print a table of measures by parts, and the number of queries of each part."""
    rows = []
    for name in map(repr, measures):
        values = [of_part[name] for of_part in means.values()]
        rows.append([name, *("undefined" if value is None else f"{value:.4f}" for value in values)])
    print_table(["measure", *means], rows)
    for part in means:
        tell(describe_undefined(part, queries[part], measures))


def read_scores(path: Path, n: int) -> NDArray[np.float64]:
    """Read one finite score per line, one for each of the `n` documents."""
    try:
        scores = np.array(path.read_text(encoding="utf-8-sig").split(), dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"{path}: {error}; give one score a line, as predict writes them without --ids"
        ) from None
    if scores.size != n or not np.isfinite(scores).all():
        raise ValueError(f"{path} has {scores.size} scores: give a finite one for each of {n} documents")
    return scores


def describe_undefined(part: str, q: Queries, measures: Iterable[Measure]) -> str:
    """The number of queries, and how those count on which a measure is undefined."""
    undefined: dict[str, list[str]] = {}
    for measure in measures:
        values = measure.strict.per_query(np.arange(q.n_documents), q)  # without ties
        if n := int(np.isnan(values).sum()):
            how = "left out" if np.isnan(measure.empty) else f"counted as {measure.empty:g}"
            undefined.setdefault(f"undefined on {n} of them, {how}", []).append(repr(measure))
    text = f"{part}: {counted(q.n_queries, 'query', 'queries')}"
    return text + "".join(f"; {', '.join(names)} {said}" for said, names in undefined.items())
