"""What goes into a data set beside its features: grades, queries, weights, label sources and positions, checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.arrays import weights_of
from lambdaboost.datasets.columns import checked_sources, grades_of, sizes_of, sources_by_name
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.traps import warn_of_narrow_labels

Labels = dict[str, NDArray[np.float32]]


class Beside(NamedTuple):
    """What goes into an engine's data set beside the features; the label is 0 where it is missing.

    `sources` are the further labels, also ``"relevance"`` if some grades are missing.
    """

    label: Any
    group: Any
    weight: Any
    sources: Labels
    positions: Positions | None


def beside(
    data: Any,
    label: Any,
    *,
    qid: Any,
    group: Any,
    weight: Any,
    sources: Any,
    position: Any,
    weights: Callable[[Any, Any, int], Any],
) -> Beside:
    """Check what is given beside the features `data`; `weights` converts weights of rows or queries.

    Raises
    ------
    TypeError, ValueError
        If lengths differ, a label, weight or position is wrong, the rows of a query are not adjacent, both `group` and
        `qid` are given, or a source has a reserved name.

    """
    rows = _known_rows(data, label, qid)
    group = sizes_of(group, qid, rows)
    if weight is not None:
        known = group is not None and rows is not None
        weight = weights(weight, group, int(rows or 0)) if known else weights_of("weight", weight)
    columns = {} if sources is None else sources_by_name(sources)
    if RELEVANCE in columns:
        raise ValueError("sources has 'relevance': that is what label= gives, with NaN where it is missing")
    for name, values in columns.items():
        warn_of_narrow_labels(name, values)
    grades, missing = (None, {}) if label is None else graded(label)
    if grades is not None and rows is not None and grades.size != rows:
        raise ValueError(f"label has {grades.size} rows, data has {rows}: give one grade per document")
    return Beside(grades, group, weight, missing | checked_sources(columns, rows), _positions(position, rows))


def graded(label: Any) -> tuple[Any, Labels]:
    """The grades, with 0 where they are missing; and as a source with NaN there, if any is."""
    warn_of_narrow_labels("label", label)
    grades = grades_of(label)
    return np.nan_to_num(grades), {RELEVANCE: grades} if np.isnan(grades).any() else {}


def _positions(position: Any, rows: int | None) -> Positions | None:
    positions = None if position is None else positions_of("position", position)
    if positions is not None and rows is not None and positions.codes.size != rows:
        raise ValueError(
            f"position has {positions.codes.size} rows, data has {rows}: give one position per document"
        )
    return positions


def _known_rows(*columns: Any) -> int | None:
    """The number of rows of the first column or matrix that shows it without reading a file; None for none."""
    for column in columns:
        shape = getattr(column, "shape", None)
        if shape:
            return int(shape[0])
        if isinstance(column, list | tuple) and column and np.isscalar(column[0]):
            return len(column)
    return None
