"""Query columns, label sources and weights, which come with the features of a data set."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_new_source, refuse_labels
from lambdaboost.datasets.arrays import array_of, labels_of, query_ids, query_starts, weights_of
from lambdaboost.datasets.tables import as_frame


def sizes_of(group: Any, qid: ArrayLike | None, rows: int | None = None, name: str = "qid") -> Any:
    """The number of documents of each query: `group` itself, or counted from `qid`; None without either.

    `name` is what messages call `qid`.

    >>> sizes_of(None, ["b", "b", "a"])
    array([2, 1])
    """
    if qid is None:
        if group is not None and rows is not None:
            sizes = np.asarray(group)
            numeric = sizes.dtype.kind in "iuf"
            if sizes.shape == (rows,) and not (numeric and sizes.sum() == rows):
                raise ValueError(
                    f"group has one value for each of the {rows} rows, like the query of each row: give it as qid="
                )
            if not numeric or sizes.sum() != rows:
                total = f"sums to {sizes.sum()}" if numeric else f"is {sizes.dtype}"
                raise ValueError(
                    f"group {total}, data has {rows} rows: give the number of documents of each query"
                )
        return group
    if group is not None:
        raise ValueError(
            "group and qid are both given: give either group (documents of each query) or qid (query of each row)"
        )
    ids = query_ids(name, qid)
    if ids.ndim != 1 or not ids.size:
        raise ValueError(f"{name} has shape {ids.shape}: give the query of each row")
    return np.diff(query_starts(name, ids), append=ids.size)


def sources_by_name(sources: Any) -> dict[Any, Any]:
    """Label sources by name, from a mapping or from the columns of a pandas, polars or pyarrow table."""
    if (frame := as_frame("sources", sources)) is not None:
        return {name: frame[:, at].to_native() for at, name in enumerate(frame.columns)}
    if hasattr(sources, "items"):
        return dict(sources.items())
    raise TypeError(
        f"sources is a {type(sources).__name__}: give a dict such as {{'clicks': rates}}, or a DataFrame"
    )


def checked_sources(given: dict[Any, Any], rows: int | None) -> dict[str, NDArray[np.float32]]:
    """Label sources as new float32 arrays of `rows` labels, each finite or NaN.

    >>> checked_sources({"clicks": [0.5, None]}, 2)
    {'clicks': array([0.5, nan], dtype=float32)}
    """
    labels = {}
    for name, values in given.items():
        check_new_source(name)
        labels[name] = labels_of(f"sources[{name!r}]", values)
        rows = labels[name].size if rows is None else rows
        if labels[name].size != rows:
            raise ValueError(
                f"sources[{name!r}] has {labels[name].size} rows, data has {rows}: give one label per document"
            )
    return labels


def grades_of(label: Any) -> NDArray[np.float32]:
    """The grades of an engine's data set, possibly of shape (n, 1), as a new float32 array of shape (n,)."""
    if (frame := as_frame("label", label)) is not None and len(frame.columns) == 1:
        label = frame[:, 0].to_native()
    given = array_of(label)
    return labels_of("label", given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given)


def check_features(name: str, X: Any, engine: str, *other: Any) -> None:
    """Raise if an engine cannot read a feature, such as a date; names the column.

    `other` are the types beside numbers that it reads of polars and pyarrow; of pandas it says itself what is wrong.
    Arrow's text ends the process in LightGBM, and is a KeyError in XGBoost.
    """
    if (frame := as_frame(name, X)) is None:
        if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
            raise TypeError(
                f"{name} is {X.dtype}: convert dates to numbers, such as days since the first one"
            )
        return
    for at, column in enumerate(frame.columns):
        dtype = frame[:, at].dtype
        if dtype.is_temporal():
            raise TypeError(
                f"{name} has the column {column!r} of {dtype}: convert it to numbers, such as days since the first "
                "date, or drop it"
            )
        read = dtype.is_integer() or dtype.is_float() or dtype in (nw.Boolean, *other)
        if not (read or frame.implementation.is_pandas_like()):
            raise TypeError(
                f"{name} has the column {column!r} of {dtype}, which {engine} cannot read: convert it to numbers, drop "
                f"it, or give a pandas DataFrame, whose categories {engine} takes"
            )


def whole_queries(name: str, rows: NDArray[np.integer], pointer: NDArray[np.integer]) -> NDArray[np.int64]:
    """The queries of `rows`, in order; raises ValueError if one is split, scattered or repeated.

    Query q holds rows ``pointer[q]:pointer[q + 1]`` of the data.

    >>> whole_queries("rows", np.array([2, 3, 0, 1]), np.array([0, 2, 4]))
    array([1, 0])
    """
    if np.unique(rows).size != rows.size:
        raise ValueError(f"{name} holds a row twice: give each row once")
    query = np.searchsorted(pointer, rows, side="right") - 1
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    taken, lengths = query[starts], np.diff(starts, append=rows.size)
    sizes = np.diff(pointer)
    cut = lengths != sizes[taken]
    if cut.any():
        q = taken[cut][0]
        raise ValueError(
            f"{name} holds {np.count_nonzero(query == q)} of the {sizes[q]} rows of query {q} "
            f"(rows {pointer[q]}:{pointer[q + 1]}), or not adjacent: keep every query whole, as GroupKFold does"
        )
    return taken


def row_weights(weight: ArrayLike, sizes: NDArray[np.integer], rows: int) -> Any:
    """One weight per row: `weight` itself, or each query's weight repeated for its rows.

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

    >>> query_weights("weight", [1.0, 1.0, 2.0], np.array([2, 1]), 3)
    array([1., 2.], dtype=float32)
    """
    given = weights_of(name, weight)
    if given.shape != (rows,) or len(sizes) == rows:
        return given
    of_query = given[np.cumsum(sizes) - sizes]
    remedy = (
        "unlike the first row of its query, but XGBoost weights whole queries; give one weight per query, or use "
        "LightGBM, which weights rows"
    )
    refuse_labels(name, given, np.repeat(of_query, sizes) != given, remedy)
    return of_query


def rows_of_worker(qid: ArrayLike, worker: int, workers: int) -> NDArray[np.int64]:
    """The rows of one of `workers` workers: whole queries, about as many documents as each other worker has.

    Every worker that calls it with the same `qid` gets its own rows, and each row is one worker's. Splits by rows, such
    as those of Ray Data, cut queries, and an engine trains on the halves as if they were queries.

    Parameters
    ----------
    qid : array of shape (n_documents,)
        The query of each row, of all rows; the rows of a query adjacent.
    worker, workers : int
        The number of this worker, from 0, and how many there are.

    Returns
    -------
    int64 array
        Row numbers, ascending.

    Raises
    ------
    ValueError
        Where there are fewer queries than workers, `worker` is none of them, or a query's rows are not adjacent.

    Examples
    --------
    >>> qid = [7, 7, 7, 8, 9, 9]
    >>> rows_of_worker(qid, 0, 2), rows_of_worker(qid, 1, 2)
    (array([0, 1, 2]), array([3, 4, 5]))

    """
    ids = query_ids("qid", qid)
    starts = query_starts("qid", ids)
    if not 0 <= worker < workers:
        raise ValueError(f"worker is {worker} of {workers}: give its number, from 0 to {workers - 1}")
    if starts.size < workers:
        raise ValueError(f"qid has {starts.size} queries, fewer than {workers} workers: use fewer workers")
    # Each worker begins at the query that is nearest to its share, and has one at least.
    shares = np.searchsorted(starts, ids.size * np.arange(workers) / workers)
    least, most = np.arange(workers), starts.size - workers + np.arange(workers)
    shares = np.clip(np.maximum.accumulate(shares - least) + least, least, most)
    bounds = np.append(starts[shares], ids.size)
    return np.arange(bounds[worker], bounds[worker + 1])
