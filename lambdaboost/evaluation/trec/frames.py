"""Checks of run and qrels frames with ir-measures' column names; ids become text."""

from __future__ import annotations

from typing import Any, Literal

import narwhals as nw
import numpy as np

from lambdaboost._words import listed, shown

KEY = ["query_id", "doc_id"]
Figure = Literal["score", "relevance"]


def checked(name: str, frame: Any, figure: Figure) -> Any:
    """The columns query_id, doc_id and `figure` of a frame, as a pandas frame with ids as text.

    `name` is the frame's name in error messages, which count rows from 0.
    """
    import pandas as pd

    columns = [*KEY, figure]
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"{name} is a {type(frame).__name__}: give a DataFrame (pandas, polars, pyarrow) with the columns "
            f"{', '.join(columns)}, such as pandas.DataFrame({name}) of ir_measures' tuples"
        ) from None
    if missing := [c for c in columns if c not in table.columns]:
        raise ValueError(
            f"{name} has no column {missing[0]!r}, only {listed(table.columns)}: rename its columns"
        )
    if not len(table):
        raise ValueError(f"{name} is empty: give at least one document of one query")
    out = pd.DataFrame({c: _texts(name, table[c]) for c in KEY})
    out[figure] = _numbers(name, table[figure], out)
    refuse_twice(name, out)
    return out


def refuse_twice(name: str, frame: Any) -> None:
    """Raise for the first document that is repeated in a query."""
    if (row := first(frame.duplicated(KEY))) is not None:
        query, doc = (frame[c].iloc[row] for c in KEY)
        before = first((frame.query_id == query) & (frame.doc_id == doc))
        raise ValueError(
            f"{name} has document {shown(doc)} of query {shown(query)} twice, in rows {before} and {row}: keep one, "
            "such as the first by drop_duplicates(['query_id', 'doc_id'])"
        )


def first(chosen: Any) -> int | None:
    """The first row that is true."""
    rows = np.flatnonzero(chosen)
    return int(rows[0]) if rows.size else None


def _texts(name: str, ids: nw.Series[Any]) -> list[str]:
    """Ids as text, so that 301 in one frame matches '301' in another."""
    if (row := first(ids.is_null().to_numpy())) is not None:
        raise ValueError(
            f"{ids.name} is missing in row {row} of {name}: give a query and a document in every row"
        )
    if ids.dtype.is_float() or ids.dtype == nw.Boolean:
        raise TypeError(f"{ids.name} of {name} is {ids.dtype}: give ids as text or whole numbers")
    return list(map(str, ids.to_list()))


def _numbers(name: str, figures: nw.Series[Any], ids: Any) -> Any:
    if not figures.dtype.is_numeric():
        raise TypeError(f"{figures.name} of {name} is {figures.dtype}: give numbers")
    values = np.array(figures.cast(nw.Float64).to_list(), dtype=np.float64)
    if (row := first(~np.isfinite(values))) is not None:
        raise ValueError(
            f"{figures.name} is {values[row]} in row {row} of {name} (query {shown(ids.query_id[row])}, document "
            f"{shown(ids.doc_id[row])}): give a finite number, or leave the row out"
        )
    return values
