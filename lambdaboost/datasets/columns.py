"""Query columns, label sources and weights, which come with the features of a data set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets._checks import check_source_name
from lambdaboost.datasets._given import labels_of, query_ids, query_starts, weights_of


def sizes_of(group: Any, qid: ArrayLike | None, rows: int | None = None, name: str = "qid") -> Any:
    """The number of documents of each query: `group` itself, or counted from `qid`; None without either.

    `name` is what messages call `qid`.

    Raises
    ------
    ValueError
        If both are given, the rows of a query are not adjacent, a row has no query, or `group` does not sum to `rows`.

    >>> sizes_of(None, ["b", "b", "a"])
    array([2, 1])

    """
    if qid is None:
        if group is not None and rows is not None:
            _check_sum(np.asarray(group), rows)
        return group
    if group is not None:
        raise ValueError(
            "group and qid are both given: give either group (documents of each query) or qid (query of each row)"
        )
    ids = query_ids(name, qid)
    if ids.ndim != 1 or not ids.size:
        raise ValueError(f"{name} has shape {ids.shape}: give the query of each row")
    return np.diff(query_starts(name, ids), append=ids.size)


def _check_sum(group: NDArray[Any], rows: int) -> None:
    if group.dtype.kind in "iuf" and group.sum() == rows:
        return
    if group.shape == (rows,):
        raise ValueError(
            f"group has one value for each of the {rows} rows, like the query of each row: give it as qid="
        )
    total = f"sums to {group.sum()}" if group.dtype.kind in "iuf" else f"is {group.dtype}"
    raise ValueError(f"group {total}, data has {rows} rows: give the number of documents of each query")


def sources_by_name(sources: Any) -> dict[Any, Any]:
    """Label sources by name, from a mapping or from the columns of a pandas or polars frame.

    Raises
    ------
    TypeError
        If `sources` is neither.

    """
    if hasattr(sources, "columns"):
        return {name: sources[name] for name in sources.columns}
    if hasattr(sources, "items"):
        return dict(sources.items())
    raise TypeError(
        f"sources is a {type(sources).__name__}: give a dict such as {{'clicks': rates}}, or a DataFrame"
    )


def checked_sources(given: dict[Any, Any], rows: int | None) -> dict[str, NDArray[np.float32]]:
    """Label sources as new float32 arrays of `rows` labels, each finite or NaN.

    Raises
    ------
    TypeError, ValueError
        If a name is not a string or is reserved, or a source is not one column of `rows` labels, finite or NaN.

    >>> checked_sources({"clicks": [0.5, None]}, 2)
    {'clicks': array([0.5, nan], dtype=float32)}

    """
    labels = {}
    for name, values in given.items():
        check_source_name(name)
        labels[name] = labels_of(f"sources[{name!r}]", values)
        rows = labels[name].size if rows is None else rows
        if labels[name].size != rows:
            raise ValueError(
                f"sources[{name!r}] has {labels[name].size} rows, data has {rows}: give one label per document"
            )
    return labels


def grades_of(label: Any) -> NDArray[np.float32]:
    """The grades of an engine's data set, possibly of shape (n, 1), as a new float32 array of shape (n,)."""
    given = label if hasattr(label, "shape") else np.asarray(label)
    if len(given.shape) == 2 and given.shape[1] == 1:
        given = given.iloc[:, 0] if hasattr(given, "iloc") else np.ma.asanyarray(given)[:, 0]
    return labels_of("label", given)


def check_no_dates(name: str, X: Any) -> None:
    """Raise if a feature is a date or duration, which the engines cannot read; names the column."""
    columns = getattr(X, "columns", None)
    if columns is None:
        if _kind(getattr(X, "dtype", None)) in ("m", "M"):
            raise TypeError(
                f"{name} is {X.dtype}: convert dates to numbers, such as days since the first one"
            )
        return
    for column in columns:
        dtype: Any = getattr(X[column], "dtype", None)
        # polars and pandas, in turn
        temporal = dtype.is_temporal() if hasattr(dtype, "is_temporal") else _kind(dtype) in ("m", "M")
        if temporal:
            raise TypeError(
                f"{name} has the column {column!r} of {dtype}: convert it to numbers, such as days since the first "
                "date, or drop it"
            )


def _kind(dtype: Any) -> str:
    return str(getattr(dtype, "kind", ""))


def whole_queries(name: str, rows: NDArray[np.integer], pointer: NDArray[np.integer]) -> NDArray[np.int64]:
    """The queries of `rows`, in order; raises ValueError if one is split, scattered or repeated.

    Query q holds rows ``pointer[q]:pointer[q + 1]`` of the data.

    >>> whole_queries("rows", np.array([2, 3, 0, 1]), np.array([0, 2, 4]))
    array([1, 0])
    """
    query = np.searchsorted(pointer, rows, side="right") - 1
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    taken, lengths = query[starts], np.diff(starts, append=rows.size)
    sizes = np.diff(pointer)
    cut = lengths != sizes[taken]
    if cut.any():
        q = taken[cut][0]
        raise ValueError(
            f"{name} holds {np.unique(rows[query == q]).size} of the {sizes[q]} rows of query {q} "
            f"(rows {pointer[q]}:{pointer[q + 1]}), or not adjacent: keep every query whole, as GroupKFold does"
        )
    if np.unique(rows).size != rows.size:
        raise ValueError(f"{name} holds a row twice: give each row once")
    return taken


def row_weights(weight: ArrayLike, sizes: NDArray[np.integer], rows: int) -> Any:
    """One weight per row: `weight` itself, or each query's weight repeated for its rows.

    Raises
    ------
    ValueError
        If there is not one weight per row or per query, or a weight is negative or not finite.

    >>> row_weights([1.0, 2.0], np.array([2, 1]), 3)
    array([1., 1., 2.], dtype=float32)

    """
    given = weights_of("weight", weight)
    if given.shape not in ((rows,), (len(sizes),)):
        raise ValueError(
            f"weight has shape {given.shape}: give one per row ({rows}) or per query ({len(sizes)})"
        )
    return np.repeat(given, sizes) if given.shape == (len(sizes),) and len(sizes) != rows else given


def query_weights(name: str, weight: ArrayLike, sizes: NDArray[np.integer], rows: int) -> Any:
    """One weight per query: `weight` itself, or the common weight of each query's rows.

    Raises
    ------
    ValueError
        If rows of one query have different weights, or a weight is negative or not finite.

    >>> query_weights("weight", [1.0, 1.0, 2.0], np.array([2, 1]), 3)
    array([1., 2.], dtype=float32)

    """
    given = weights_of(name, weight)
    if given.shape != (rows,) or len(sizes) == rows:
        return given
    of_query = given[np.cumsum(sizes) - sizes]
    differs = np.repeat(of_query, sizes) != given
    if differs.any():
        row = int(differs.argmax())
        raise ValueError(
            f"{name}[{row}] is {given[row]}, unlike the first row of its query: XGBoost weights whole queries; "
            "give one weight per query, or use LightGBM, which weights rows"
        )
    return of_query
