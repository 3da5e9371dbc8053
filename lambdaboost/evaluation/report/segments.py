"""Measures of the systems on groups of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.evaluation.measure import Measure

GROUPS = 12  # with more distinct values, numbers are grouped by quartile and strings by frequency


def checked(segments: Mapping[str, ArrayLike] | None, q: Queries) -> dict[str, NDArray[Any]]:
    """The group of each query by segment; raises ValueError unless there is one value per query."""
    found = {}
    for name, values in (segments or {}).items():
        array = np.asarray(values)
        if array.shape != (q.n_queries,):
            raise ValueError(
                f"segments[{name!r}] has shape {array.shape}, expected ({q.n_queries},): one value per query"
            )
        found[name] = groups(array)
    return found


def groups(values: NDArray[Any]) -> NDArray[Any]:
    """The group of each value: the value itself, a quartile of the numbers, or "other".

    >>> groups(np.array(["shop", "news", "shop"])).tolist()
    ['shop', 'news', 'shop']
    >>> groups(np.arange(16.0)).tolist()[::4]
    ['0 to 3', '4 to 7', '8 to 11', '12 to 15']
    """
    if np.issubdtype(values.dtype, np.number):
        return _of_numbers(values.astype(np.float64))
    texts = np.array(
        ["missing" if value is None or value != value else str(value) for value in values], dtype=object
    )
    names, counts = np.unique(texts, return_counts=True)
    if names.size > GROUPS:
        kept = names[np.argsort(-counts, kind="stable")[: GROUPS - 1]]
        texts[~np.isin(texts, kept)] = "other"
    return texts


def segment_table(name: str, groups: NDArray[Any], systems: Sequence[System], measure: Measure) -> Table:
    """The number of queries in each group, and the mean of every system on them."""
    values = [system.per_query(measure) for system in systems]
    base, *others = systems
    header = ("Queries with", "Queries", base.name, *(n for s in others for n in (s.name, "difference")))
    rows = []
    for group in dict.fromkeys(sorted(groups, key=_by_number)):
        chosen = groups == group
        means = [float(np.nanmean(v[chosen])) if not np.isnan(v[chosen]).all() else np.nan for v in values]
        cells = [Cell(f"{name}: {group}"), Cell(str(int(chosen.sum()))), _percent(means[0])]
        for mean in means[1:]:
            cells += [_percent(mean), Cell(f"{100 * (mean - means[0]):+z.2f}")]
        rows.append(tuple(cells))
    caption = f"Mean {measure!r} by {name}, times 100. Differences from {base.name} are not tested for significance."
    return Table(header, tuple(rows), caption if others else f"Mean {measure!r} by {name}, times 100.")


def _of_numbers(values: NDArray[np.float64]) -> NDArray[Any]:
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    named = np.full(values.size, "missing", dtype=object)
    if distinct.size <= GROUPS:
        for value in distinct:
            named[values == value] = f"{value:g}"
        return named
    edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
    of = np.searchsorted(edges, values, side="left")
    for at in np.unique(of[~np.isnan(values)]):
        inside = (of == at) & ~np.isnan(values)
        named[inside] = f"{values[inside].min():g} to {values[inside].max():g}"
    return named


def _by_number(group: str) -> tuple[float, str]:
    try:
        return float(group.split(" to ")[0]), group
    except ValueError:
        return float("inf"), group


def _percent(mean: float) -> Cell:
    return Cell("–" if np.isnan(mean) else f"{100 * mean:.2f}")
