"""`from_frame` and `read_table`: a `Collection` from the columns of a table or of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.columns import Columns
from lambdaboost.datasets.tables import Table, is_table


def from_frame(df: Any, *, query: str, relevance: str, **columns: Any) -> Collection:
    """Make a `Collection` from the columns of a pandas, polars or pyarrow table.

    Parameters
    ----------
    df : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        One row per document; a pandas index is ignored. The rows of a query may be apart: they come together in the
        order of the table, the queries in that of their first rows, and `Collection.rows` says which row each was.
    query, relevance : str
        The columns with the query of each row (whole numbers, strings, …) and with its grade.
    **columns
        ``features=``, ``sources=``, ``position=``, ``weight=``, ``document=`` and ``categorical=``, as of `Columns`.

    Returns
    -------
    Collection
        Features as float32 if it holds the numbers of every column, else float64, NaN for nulls; with query ids and
        feature names. Categories are codes, from 0, whose values are in `Collection.categories`.

    Raises
    ------
    TypeError, ValueError
        If a column does not exist or has a wrong type or value, which is named with its row.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"q": ["a", "a", "b"], "bm25": [5.0, 2, 1], "grade": [0, 2, 1], "ctr": [0, 0.5, 0]})
    >>> X, q = from_frame(df, query="q", relevance="grade", sources={"clicks": "ctr"})
    >>> X.ravel(), q
    (array([5., 2., 1.]), Queries(3 documents in 2 queries; relevance, clicks))

    """
    return Columns(query, relevance, **columns).read(Table.of(df))


def read_table(path: str | os.PathLike[str], *, query: str, relevance: str, **columns: Any) -> Collection:
    r"""Read a CSV or Parquet file, as the command line reads it; columns are those of `from_frame`.

    In CSV, ids, positions and categories are text: ``7``, ``07`` and ``7.0`` are three queries, and only an empty field
    is missing. Positions are ranks where every field that is not empty is a number.

    Parameters
    ----------
    path : path
        ``.csv``, also compressed as gzip, xz or bzip2, or ``.parquet``.
    query, relevance, **columns : str
        Columns, as of `from_frame`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "log.csv")
    >>> _ = path.write_text("q,grade,bm25\n07,1,0.5\n7,0,0.25\n07,0,0.125\n")
    >>> read_table(path, query="q", relevance="grade").queries.ids
    array(['07', '7'], dtype='<U2')
    >>> folder.cleanup()

    """
    if not is_table(Path(path)):
        raise ValueError(f"{path} is no CSV or Parquet by its suffix: use read_letor for LETOR text")
    return Columns(query, relevance, **columns).read(path)
