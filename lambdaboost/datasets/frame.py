"""`from_frame`: a pandas or polars frame as a `Collection`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets._checks import check_source_name
from lambdaboost.datasets._given import query_ids, split_query
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.positions import positions_of
from lambdaboost.datasets.queries import Queries


def from_frame(
    df: Any,
    *,
    query: str,
    relevance: str,
    features: Sequence[str] | None = None,
    sources: Sequence[str] | Mapping[str, str] = (),
    position: str | None = None,
) -> Collection:
    """Make a `Collection` from the columns of a pandas or polars frame.

    Parameters
    ----------
    df : pandas.DataFrame or polars.DataFrame
        One row per document, the rows of a query adjacent; a pandas index is ignored.
    query : str
        Column with the query of each row: whole numbers, strings, …
    relevance : str
        Column with the grades.
    features : list of str, optional
        Feature columns, in order; by default all other columns.
    sources : list of str or dict of str to str
        Columns of further label sources, or the column of each label source by name.
    position : str, optional
        Column with the position of each row, as of `Queries`.

    Returns
    -------
    Collection
        Features as float32 if every column is float32, else float64, NaN for nulls; with query ids and feature names.

    Raises
    ------
    TypeError
        If `df` is neither kind of frame, or a feature or label column is not numeric.
    ValueError
        If a column does not exist, a query is null or its rows are not adjacent, or a label is negative.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"q": ["a", "a", "b"], "bm25": [5.0, 2, 1], "grade": [0, 2, 1], "ctr": [0, 0.5, 0]})
    >>> X, q = from_frame(df, query="q", relevance="grade", sources={"clicks": "ctr"})
    >>> X.ravel(), q
    (array([5., 2., 1.]), Queries(3 documents in 2 queries; relevance, clicks))

    """
    kind = _kind(df)
    columns = _column_names(df)
    by_source = _sources(sources)
    labels = [relevance, *by_source.values()]
    others = [query] if position is None else [query, position]
    names = (
        [c for c in columns if c not in {*others, *labels}]
        if features is None
        else _listed("features", features)
    )
    for column in [*others, *labels, *names]:
        if column not in columns:
            raise ValueError(f"df has no column {column!r}: choose among {', '.join(map(str, columns))}")
    if not names:
        raise ValueError("features is empty: df needs at least one column besides the query and the labels")
    for column in [*labels, *names]:
        _check_numeric(df, column, kind)
    return Collection(
        _matrix(df, names, kind),
        Queries(
            _numbers(df[relevance], kind, np.float64),
            ids=_ids(df, query, kind),
            position=None if position is None else positions_of(f"column {position!r}", df[position]),
            **{name: _numbers(df[column], kind, np.float64) for name, column in by_source.items()},
        ),
        feature_names=tuple(names),
    )


def _kind(df: Any) -> str:
    kind = type(df).__module__.partition(".")[0]
    if kind not in ("pandas", "polars") or type(df).__name__ != "DataFrame":
        raise TypeError(
            f"df must be a pandas or polars DataFrame, got {type(df).__name__}: collect or convert it first"
        )
    return kind


def _column_names(df: Any) -> list[str]:
    columns = list(df.columns)
    if len(set(columns)) != len(columns):
        twice = next(c for c in columns if columns.count(c) > 1)
        raise ValueError(f"df has two columns {twice!r}: rename one")
    if wrong := [c for c in columns if not isinstance(c, str)]:
        raise TypeError(
            f"df has a column named {wrong[0]!r}: names must be strings; use df.rename(columns=str)"
        )
    return columns


def _listed(argument: str, names: Sequence[str]) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f"{argument} is the string {names!r}: give a list, such as [{names!r}]")
    return list(names)


def _sources(sources: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Column of each label source."""
    by_source = dict(sources) if isinstance(sources, Mapping) else {c: c for c in _listed("sources", sources)}
    for name in by_source:
        check_source_name(name)
    return by_source


def _check_numeric(df: Any, column: str, kind: str) -> None:
    dtype = df[column].dtype
    if kind == "polars":
        numeric = dtype.is_numeric() or str(dtype) in ("Boolean", "Null")
    else:
        from pandas.api.types import is_complex_dtype, is_numeric_dtype

        numeric = is_numeric_dtype(dtype) and not is_complex_dtype(dtype)
    if not numeric:
        raise TypeError(
            f"column {column!r} is {dtype}, not numeric: encode it as numbers, or exclude it with features="
        )


def _matrix(df: Any, names: Iterable[str], kind: str) -> NDArray[Any]:
    names = list(names)
    narrow = all(str(df[name].dtype).lower() == "float32" for name in names)
    x = np.empty((len(df), len(names)), dtype=np.float32 if narrow else np.float64)
    for i, name in enumerate(names):
        x[:, i] = _numbers(df[name], kind, x.dtype)
    return x


def _numbers(series: Any, kind: str, dtype: Any) -> NDArray[Any]:
    """A numeric column as floats; NaN for nulls."""
    if kind == "pandas":
        return series.to_numpy(dtype=dtype, na_value=np.nan)
    import polars as pl

    return series.cast(pl.Float32 if dtype == np.float32 else pl.Float64).to_numpy()


def _ids(df: Any, query: str, kind: str) -> NDArray[Any]:
    """The query of each row; raises if one is null or the rows of a query are not adjacent."""
    ids = query_ids(f"column {query!r}", df[query].to_numpy())
    if ids.dtype == object:
        ids = ids.astype(np.str_)
    if ids.size and (split := split_query(ids)):
        sort = f"df.sort_values({query!r}, kind='stable')"
        if kind == "polars":
            sort = f"df.sort({query!r}, maintain_order=True)"
        raise ValueError(
            f"query {split[0]!r} of column {query!r} reappears in row {split[1]}: its rows are not adjacent; "
            f"use {sort} first"
        )
    return ids
