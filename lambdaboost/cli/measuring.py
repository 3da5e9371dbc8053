"""Evaluation of scores on files, printed as a table or JSON."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import saying
from lambdaboost._words import counted, shown
from lambdaboost.cli.columns import naming_file, naming_option
from lambdaboost.datasets import Columns, Queries
from lambdaboost.evaluation import Measure, parse

Figures = dict[str, float]  # by measure


def parse_measures(texts: Iterable[str]) -> tuple[Measure, ...]:
    """Parse the option ``--measure``."""
    measures = []
    for text in texts:
        with naming_option(f"--measure {shown(text)}"):
            measures.append(parse(text))
    return tuple(dict.fromkeys(measures))


def check_columns(measures: Iterable[Measure], columns: Columns, objective: Any = None) -> None:
    """Raise if the objective or a measure needs a label source or positions, and no column is given for them."""
    known = ["relevance", *columns.sources]
    askers = {} if objective is None else {f"--objective {objective!r}": objective}
    for option, asker in (askers | {f"--measure {measure!r}": measure for measure in measures}).items():
        for source in asker.sources:
            if source not in known:
                raise ValueError(
                    f"{option} needs the label source {source!r}, but there is only {', '.join(known)}: "
                    f"give its column as --source {source}=COLUMN"
                )
        if getattr(asker, "reads_positions", False) and columns.position is None:
            raise ValueError(
                f"{option} needs positions: give the column with the rank at which each row was shown, such as "
                "--position rank"
            )


def check_evaluated(
    option: str, q: Queries, file: Path, rows: NDArray[np.int64] | None, measures: Iterable[Measure]
) -> None:
    """Raise before a training if a measure refuses the labels or the positions of a file, whose `rows` they are."""
    for measure in dict.fromkeys(measures):
        with saying(f"{option} with --measure {measure!r}"), naming_file(file, rows):
            for source in measure.sources:
                q.source(source, allow_negative=measure.allows_negative)
            measure(np.zeros(q.n_documents), q)


def figures_of(
    measures: Sequence[Measure],
    scores: NDArray[np.floating],
    q: Queries,
    seed: int,
    naming: Callable[[NDArray[np.int64]], AbstractContextManager[Any]] = nullcontext,
) -> Figures:
    """The mean of each measure, with ties in random order, so that a file sorted by grade has no advantage.

    `naming` names a wrong row.
    """
    rows = q.shuffled_rows(seed)
    shuffled = q.reordered(rows)
    with naming(rows):
        return {repr(measure): measure(scores[rows], shuffled) for measure in measures}


def json_figures(figures: Mapping[str, float]) -> dict[str, float | None]:
    """Replace NaN by None, since JSON has no NaN."""
    return {name: None if math.isnan(figure) else figure for name, figure in figures.items()}


def figures_table(figures: Mapping[str, Figures]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: measures by parts."""
    measures = next(iter(figures.values()))
    rows = [[m, *(f"{of_part[m]:.4f}" for of_part in figures.values())] for m in measures]
    return ["measure", *figures], rows


def read_scores(path: Path, n: int, of: Path) -> NDArray[np.float64]:
    """Read one finite score per line, one for each of the `n` documents."""
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    if len(lines) != n:
        raise ValueError(
            f"{path} has {len(lines)} lines, {of} has {n} documents: give one score per line, one for each document"
        )
    scores = np.full(n, np.nan)
    for i, line in enumerate(lines):
        with contextlib.suppress(ValueError):
            scores[i] = float(line)
        if not np.isfinite(scores[i]):
            raise ValueError(f"{path}:{i + 1}: {shown(line)} is not a finite number; give one score per line")
    return scores


def remark(part: str, q: Queries, measures: Iterable[Measure]) -> str:
    """The number of queries, and how those count on which a measure is undefined."""
    text = f"{part}: {counted(q.n_queries, 'query', 'queries')}"
    for measure in measures:
        values = measure.strict.per_query(np.arange(q.n_documents), q)  # without ties
        if n := int(np.isnan(values).sum()):
            how = "are left out" if np.isnan(measure.empty) else f"count as {measure.empty:g}"
            text += f"; {n} on which {measure!r} is undefined {how}"
    return text
