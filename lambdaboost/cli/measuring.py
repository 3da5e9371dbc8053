"""Measures of scores on files, as a table and as figures."""

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
    """Read the option ``--measure``."""
    measures = []
    for text in texts:
        try:
            measures.append(parse(text))
        except (TypeError, ValueError) as error:
            raise ValueError(f"--measure {text!r}: {error}") from None
    return tuple(dict.fromkeys(measures))


def check_measures(measures: Sequence[Measure], columns: Columns) -> None:
    """Refuse a measure of a label source that there is none of."""
    known = ["relevance", *(source.name for source in columns.sources)]
    check_sources({m.source: f"--measure {m!r}" for m in measures}, known)


def check_sources(wanted: Mapping[str, str], known: Iterable[str]) -> None:
    """Refuse what reads a label source that there is none of; `wanted` maps sources to what asks for them."""
    known = tuple(known)
    for source, asker in wanted.items():
        if source not in known:
            raise ValueError(
                f"{asker} reads the label source {source!r}, but there is only {', '.join(known)}: "
                f"say which column it is, such as --source {source}=134"
            )


def figures_of(
    measures: Sequence[Measure], scores: NDArray[np.floating], q: Queries, seed: int
) -> dict[str, float]:
    """Each measure's mean; documents of equal score in random order, so that a file sorted by grade gains nothing."""
    rows = q.shuffled_rows(seed)
    shuffled = q.reordered(rows)
    return {repr(measure): float(measure(scores[rows], shuffled)) for measure in measures}


def json_figures(figures: Mapping[str, float]) -> dict[str, float | None]:
    """Figures for JSON, which knows no NaN."""
    return {name: None if math.isnan(figure) else figure for name, figure in figures.items()}


def figures_table(figures: Mapping[str, Mapping[str, float]]) -> Table:
    """Measures down, parts across."""
    table = Table("measure", *(f"[bold]{part}" for part in figures))
    for column in table.columns[1:]:
        column.justify = "right"
    for measure in next(iter(figures.values())):
        table.add_row(measure, *(f"{of_part[measure]:.4f}" for of_part in figures.values()))
    return table


def remark(part: str, q: Queries) -> str:
    """How many queries a figure is of, and how those without a relevant document count."""
    empty = int((np.fmax.reduceat(np.nan_to_num(q.relevance), q.offsets[:-1]) == 0).sum())
    text = f"{part}: {q.n_queries} queries"
    if empty:
        text += f"; {empty} have no relevant document and count as 0, unless a measure says empty="
    return text
