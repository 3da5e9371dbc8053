"""What data come with besides features: the column of queries, label sources by name, weights of queries or rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets.queries import Queries

QID = "qid"


def part_qid(X: Any) -> tuple[Any, Any]:
    """Features and queries of a pandas or polars frame with a column ``qid``; anything else as it is, and None.

    >>> import pandas as pd
    >>> X, qid = part_qid(pd.DataFrame({"qid": [7, 7, 8], "bm25": [0.5, 0.1, 0.3]}))
    >>> list(X), list(qid)
    (['bm25'], [7, 7, 8])
    """
    if QID not in list(getattr(X, "columns", ())):
        return X, None
    return (X.drop(columns=QID) if hasattr(X, "iloc") else X.drop(QID)), X[QID]


def given_qid(name: str, X: Any, group: Any, qid: Any) -> tuple[Any, Any]:
    """Features, and the queries that came as `qid` or as a column of X; raises where they came twice."""
    X, column = part_qid(X)
    if column is None:
        return X, qid
    if group is not None or qid is not None:
        raise ValueError(
            f"{name} has a column 'qid', and group or qid is given too: give the queries once, or rename the column"
        )
    return X, column


def sizes_of(group: Any, qid: ArrayLike | None) -> Any:
    """The documents of each query, by `group` as it is or by `qid`; None without either.

    Raises
    ------
    ValueError
        Where both are given, or the rows of a query are not adjacent.

    >>> sizes_of(None, ["b", "b", "a"])
    array([2, 1])

    """
    if qid is None:
        return group
    if group is not None:
        raise ValueError(
            "group and qid are both given: give one, documents of each query or query of each row"
        )
    ids = np.asarray(qid)
    try:
        return Queries(np.zeros(len(ids)), ids=ids).sizes
    except ValueError as error:
        raise ValueError(f"qid: {error}") from None


def sources_by_name(sources: Any) -> dict[Any, Any]:
    """Label sources of a mapping, or of a pandas or polars frame, by name.

    Raises
    ------
    TypeError
        Where `sources` is neither.

    """
    if hasattr(sources, "columns"):
        return {name: np.asarray(sources[name]) for name in sources.columns}
    if hasattr(sources, "items"):
        return dict(sources.items())
    raise TypeError(
        f"sources is a {type(sources).__name__}: give a dict such as {{'clicks': rates}}, or a DataFrame"
    )


def row_weights(weight: ArrayLike, sizes: NDArray[np.integer], rows: int) -> Any:
    """One weight a row: `weight` as it is, or each query's for its rows.

    Raises
    ------
    ValueError
        Where there is neither one for each row nor one for each query.

    >>> row_weights([1.0, 2.0], np.array([2, 1]), 3)
    array([1., 1., 2.])

    """
    given = np.asarray(weight)
    if given.shape not in ((rows,), (len(sizes),)):
        raise ValueError(
            f"weight has shape {given.shape}: give one for each row ({rows}) or for each query ({len(sizes)})"
        )
    return np.repeat(given, sizes) if given.shape == (len(sizes),) and len(sizes) != rows else given


def query_weights(name: str, weight: ArrayLike, sizes: NDArray[np.integer], rows: int) -> Any:
    """One weight a query: `weight` as it is, or that of the query's rows.

    Raises
    ------
    ValueError
        Where rows of one query have different weights.

    >>> query_weights("weight", [1.0, 1.0, 2.0], np.array([2, 1]), 3)
    array([1., 2.])

    """
    given = np.asarray(weight)
    if given.shape != (rows,) or len(sizes) == rows:
        return weight
    of_query = given[np.cumsum(sizes) - sizes]
    differs = np.repeat(of_query, sizes) != given
    if differs.any():
        row = int(differs.argmax())
        raise ValueError(
            f"{name}[{row}] is {given[row]}, unlike that of its query's first row: XGBoost weighs whole queries; "
            "give one weight for each query, or use LightGBM, which weighs rows"
        )
    return of_query
