"""Checked label sources and positions of the engines' data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.columns import checked_sources, grades_of, sources_by_name
from lambdaboost.datasets.engines import positions_in
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.traps import warn_of_narrow_labels

Labels = dict[str, NDArray[np.float32]]


def labels_by_source(sources: Any, rows: int | None = None) -> Labels:
    """The labels of a mapping or frame of sources, ``"relevance"`` first; a warning where float32 loses digits.

    Raises
    ------
    TypeError, ValueError
        Where `sources` is neither, or one of them has a wrong length, a reserved name or a bad label.

    """
    if sources is None:
        return {}
    columns = sources_by_name(sources)
    for name, values in columns.items():
        warn_of_narrow_labels(name, values)
    grades = {RELEVANCE: grades_of(columns.pop(RELEVANCE))} if RELEVANCE in columns else {}
    return grades | checked_sources(columns, rows)


def checked_positions(position: Any, rows: int | None) -> Positions | None:
    """The positions of `rows` rows; None for None.

    Raises
    ------
    TypeError, ValueError
        Where one is not a rank ≥ 1, a category or missing, or their number is wrong.

    """
    if position is None:
        return None
    positions = positions_of("position", position)
    if rows is not None and positions.codes.size != rows:
        raise ValueError(
            f"position has {positions.codes.size} rows, data has {rows}: give one position per document"
        )
    return positions


def carried(data: Any) -> dict[str, Any]:
    """The sources and positions that a data set carries beside the engine's fields, for digests of checkpoints."""
    positions = positions_in(data)
    sources = dict(getattr(data, "sources", None) or {})
    if positions is None:
        return sources
    return {**sources, "position": positions.codes, "position_names": repr(positions.names)}


def known_rows(*columns: Any) -> int | None:
    """The number of rows of the first column or matrix that shows it without reading a file; None for none."""
    for column in columns:
        shape = getattr(column, "shape", None)
        if shape:
            return int(shape[0])
        if isinstance(column, list | tuple) and column and np.isscalar(column[0]):
            return len(column)
    return None
