"""Evaluation of scores on files, printed as a table or JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from lambdaboost.cli.columns import Columns
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure, parse


def parse_measures(texts: Iterable[str]) -> tuple[Measure, ...]:
    """Parse the option ``--measure``."""
    measures = []
    for text in texts:
        try:
            measures.append(parse(text))
        except (TypeError, ValueError) as error:
            raise ValueError(f"--measure {text!r}: {error}") from None
    return tuple(dict.fromkeys(measures))


def check_measures(measures: Sequence[Measure], columns: Columns) -> None:
    """Raise if a measure needs a label source that is not given."""
    known = ["relevance", *(source.name for source in columns.sources)]
    check_sources({source: f"--measure {m!r}" for m in measures for source in m.sources}, known)
    check_position([f"--measure {m!r}" for m in measures if m.reads_positions], columns)


def check_position(askers: Sequence[str], columns: Columns) -> None:
    """Raise if there is an option that needs positions, of `askers`, and no column of positions is given."""
    if askers and columns.position is None:
        raise ValueError(
            f"{askers[0]} needs positions: give the column with the rank at which each row was shown, such as "
            "--position rank"
        )


def check_sources(wanted: Mapping[str, str], known: Iterable[str]) -> None:
    """Raise if a label source is not given; `wanted` maps label sources to the options that need them."""
    known = tuple(known)
    for source, asker in wanted.items():
        if source not in known:
            raise ValueError(
                f"{asker} needs the label source {source!r}, but there is only {', '.join(known)}: "
                f"give its column, such as --source {source}=134"
            )


def figures_of(
    measures: Sequence[Measure], scores: NDArray[np.floating], q: Queries, seed: int
) -> dict[str, float]:
    """The mean of each measure, with ties in random order, so that a file sorted by grade has no advantage."""
    rows = q.shuffled_rows(seed)
    shuffled = q.reordered(rows)
    return {repr(measure): float(measure(scores[rows], shuffled)) for measure in measures}


def json_figures(figures: Mapping[str, float]) -> dict[str, float | None]:
    """Replace NaN by None, since JSON has no NaN."""
    return {name: None if math.isnan(figure) else figure for name, figure in figures.items()}


def figures_table(figures: Mapping[str, Mapping[str, float]]) -> Table:
    """A table of measures (rows) by parts (columns)."""
    table = Table("measure", *(f"[bold]{part}" for part in figures))
    for column in table.columns[1:]:
        column.justify = "right"
    for measure in next(iter(figures.values())):
        table.add_row(measure, *(f"{of_part[measure]:.4f}" for of_part in figures.values()))
    return table


def remark(part: str, q: Queries) -> str:
    """The number of queries, and how those without a relevant document count."""
    empty = int((np.fmax.reduceat(np.nan_to_num(q.relevance), q.offsets[:-1]) == 0).sum())
    text = f"{part}: {q.n_queries} queries"
    if empty:
        text += f"; {empty} have no relevant document and count as 0, unless a measure says empty="
    return text
