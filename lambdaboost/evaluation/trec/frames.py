"""Checks of run and qrels frames with ir-measures' column names; ids become text."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

KEY = ["query_id", "doc_id"]
Figure = Literal["score", "relevance"]


def checked(name: str, frame: Any, figure: Figure) -> Any:
    """The columns query_id, doc_id and `figure` of a pandas or polars frame, as a pandas frame with ids as text.

    `name` is the frame's name in error messages, which count rows from 0.
    """
    import pandas as pd

    columns = [*KEY, figure]
    kind = type(frame).__module__.partition(".")[0]
    if kind not in ("pandas", "polars") or type(frame).__name__ != "DataFrame":
        raise TypeError(
            f"{name} is a {type(frame).__name__}: give a pandas or polars DataFrame with the columns "
            f"{', '.join(columns)}, such as pandas.DataFrame({name}) of ir_measures' tuples"
        )
    if missing := [c for c in columns if c not in frame.columns]:
        found = ", ".join(map(str, frame.columns))
        raise ValueError(f"{name} has no column {missing[0]!r}, only {found}: rename its columns")
    if not len(frame):
        raise ValueError(f"{name} is empty: give at least one document of one query")
    if kind == "polars":
        frame = pd.DataFrame({c: frame[c].to_pandas() for c in columns})
    out = pd.DataFrame({c: _texts(name, frame[c]) for c in KEY})
    out[figure] = _numbers(name, frame[figure], out)
    refuse_twice(name, out)
    return out


def refuse_twice(name: str, frame: Any) -> None:
    """Raise for the first document that is repeated in a query."""
    again = frame.duplicated(KEY).to_numpy()
    if again.any():
        row = int(np.flatnonzero(again)[0])
        query, doc = (frame[c].iloc[row] for c in KEY)
        first = int(np.flatnonzero(((frame.query_id == query) & (frame.doc_id == doc)).to_numpy())[0])
        raise ValueError(
            f"{name} has document {doc!r} of query {query!r} twice, in rows {first} and {row}: keep one, such "
            "as the first by drop_duplicates(['query_id', 'doc_id'])"
        )


def _texts(name: str, ids: Any) -> Any:
    """Ids as text, so that 301 in one frame matches '301' in another."""
    from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

    null = ids.isna().to_numpy()
    if null.any():
        row = int(np.flatnonzero(null)[0])
        raise ValueError(
            f"{ids.name} is missing in row {row} of {name}: give a query and a document in every row"
        )
    if is_float_dtype(ids.dtype) or is_bool_dtype(ids.dtype):
        raise TypeError(f"{ids.name} of {name} is {ids.dtype}: give ids as text or whole numbers")
    if is_integer_dtype(ids.dtype):
        return ids.to_numpy().astype(str).astype(object)
    return ids.astype(object).map(str).to_numpy()


def _numbers(name: str, figures: Any, ids: Any) -> Any:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not is_numeric_dtype(figures.dtype) or is_bool_dtype(figures.dtype):
        raise TypeError(f"{figures.name} of {name} is {figures.dtype}: give numbers")
    values = figures.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{figures.name} is {values[row]} in row {row} of {name} (query {ids.query_id[row]!r}, document "
            f"{ids.doc_id[row]!r}): give a finite number, or leave the row out"
        )
    return values
