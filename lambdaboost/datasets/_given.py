"""Labels, weights and query ids from users, checked and converted to plain NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FLOAT32_MAX = float(np.finfo(np.float32).max)


def numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Convert to float64, one value per row; NaN for masked or null values; dates raise TypeError.

    >>> numbers("clicks", np.ma.masked_equal([0.5, -1.0], -1.0))
    array([0.5, nan])
    """
    try:
        given = values.to_numpy(na_value=np.nan) if _is_nullable(values) else values
        if not np.ma.isMaskedArray(given):
            given = np.asarray(given)
        if given.dtype.kind in "mMc":
            raise TypeError(f"got {given.dtype}")
        plain = given.astype(np.float64, copy=False)
        a = plain.filled(np.nan) if np.ma.isMaskedArray(plain) else plain
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers, one per document: {error}") from None
    if a.ndim != 1:
        raise ValueError(f"{name} has shape {a.shape}, expected one dimension: one value per document")
    return a


def labels_of(name: str, values: Any) -> NDArray[np.float32]:
    """Labels as a new float32 array: finite, or NaN if missing."""
    a = numbers(name, values)
    if (bad := np.isinf(a)).any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"{name}[{row}] is {a[row]:g}: labels must be finite, or NaN if missing")
    narrow = np.empty(a.shape, dtype=np.float32)
    with np.errstate(over="ignore"):
        narrow[:] = a
    if (bad := np.isinf(narrow)).any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"{name}[{row}] is {a[row]:g}: labels are kept as float32, from -3.4e38 to 3.4e38")
    return narrow


def weights_of(name: str, values: Any) -> NDArray[np.float32]:
    """Weights of queries or documents as float32, finite and ≥ 0."""
    a = numbers(name, values)
    if (bad := ~((a >= 0) & (a <= FLOAT32_MAX))).any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{name}[{at}] is {a[at]:g}: weights must be finite and ≥ 0, and at most 3.4e38 as float32"
        )
    return a.astype(np.float32)


def query_ids(name: str, ids: ArrayLike, what: str = "query") -> NDArray[Any]:
    """The query, or other key, of each row as an array; raises if one is missing (masked, null, None or NaN).

    >>> query_ids("qid", ["a", "a", "b"])
    array(['a', 'a', 'b'], dtype='<U1')
    """
    a = np.ma.getdata(ids) if np.ma.isMaskedArray(ids) else np.asarray(ids)
    missing = np.ma.getmaskarray(ids) if np.ma.isMaskedArray(ids) else _missing(a)
    # NumPy turns a NaN among strings into text.
    if a.dtype.kind == "U" and isinstance(ids, list | tuple):
        missing = np.array([isinstance(query, float) and query != query for query in ids])
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(f"{name} is missing in row {row}: give the {what} of every row")
    return a


def query_starts(name: str, ids: NDArray[Any]) -> NDArray[np.int64]:
    """The first row of each query; raises if the rows of a query are not adjacent."""
    if split := split_query(ids):
        raise ValueError(
            f"{name} has query {split[0]!r} in two places, again at row {split[1]}: sort the rows by query so that "
            "each is whole"
        )
    return _first_rows(ids)


def split_query(ids: NDArray[Any]) -> tuple[Any, int] | None:
    """The first query whose rows are not adjacent, and the row where it reappears; None if there is none.

    >>> split_query(np.array(["a", "b", "a"])), split_query(np.array([2, 2, 1]))
    (('a', 2), None)
    """
    starts = _first_rows(ids)
    seen: set[Any] = set()  # ids may be of mixed types, which cannot be sorted
    for row, query in zip(starts.tolist(), ids[starts].tolist(), strict=True):
        if query in seen:
            return query, row
        seen.add(query)
    return None


def _first_rows(ids: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])


def _is_nullable(values: Any) -> bool:
    """Whether this is a pandas series of an extension type, whose nulls NumPy cannot represent."""
    return hasattr(values, "iloc") and not isinstance(getattr(values, "dtype", np.dtype(object)), np.dtype)


def _missing(ids: NDArray[Any]) -> NDArray[np.bool_]:
    if ids.dtype.kind in "fcmM":
        return np.isnan(ids)
    if ids.dtype.kind != "O":
        return np.zeros(ids.shape, dtype=np.bool_)
    import pandas as pd

    return np.asarray(pd.isna(ids))
