"""`from_frame` and `read_table`: a `Collection` from the columns of a table or of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.columns import Columns
from lambdaboost.datasets.tables import Table, is_table


def from_frame(
    df: Any,
    *,
    query: str,
    relevance: str,
    features: Sequence[str] | None = None,
    sources: Sequence[str] | Mapping[str, str] = (),
    position: str | None = None,
    weight: str | None = None,
    document: str | None = None,
    categorical: Sequence[str] = (),
) -> Collection:
    """Make a `Collection` from the columns of a pandas, polars or pyarrow table.

    Parameters
    ----------
    df : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        One row per document; a pandas index is ignored. The rows of a query may be apart: they are put together in the
        order of the table, queries in the order of their first rows; `Collection.rows` has the row of each document.
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
    weight, document : str, optional
        Columns with the weight of each row, as of `Queries`, and with its name.
    categorical : list of str, optional
        Features of text or whole numbers that become categories, in addition to those of a categorical type.

    Returns
    -------
    Collection
        Features as float32 if it holds the numbers of every column, else float64, NaN for nulls; with query ids and
        feature names. Categories are codes, from 0, whose values are in `Collection.categories`.

    Raises
    ------
    TypeError
        If `df` is no such table, or a feature or label column is not numeric.
    ValueError
        If a column does not exist, a query is null, or a label is infinite.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"q": ["a", "a", "b"], "bm25": [5.0, 2, 1], "grade": [0, 2, 1], "ctr": [0, 0.5, 0]})
    >>> X, q = from_frame(df, query="q", relevance="grade", sources={"clicks": "ctr"})
    >>> X.ravel(), q
    (array([5., 2., 1.]), Queries(3 documents in 2 queries; relevance, clicks))

    """
    columns = Columns(query, relevance, sources, position, weight, document, categorical, features)
    return columns.read(Table.of(df))


def read_table(
    path: str | os.PathLike[str],
    *,
    query: str,
    relevance: str,
    features: Sequence[str] | None = None,
    sources: Sequence[str] | Mapping[str, str] = (),
    position: str | None = None,
    weight: str | None = None,
    document: str | None = None,
    categorical: Sequence[str] = (),
) -> Collection:
    r"""Read a CSV or Parquet file, as the command line reads it.

    In CSV, ids, positions and categories are text: ``7``, ``07`` and ``7.0`` are three queries, and only an empty field
    is missing.
    Positions are ranks where every field that is not empty is a number.

    Parameters
    ----------
    path : path
        ``.csv``, also compressed as gzip, xz, bzip2 or zstd, or ``.parquet``.
    query, relevance, features, sources, position, weight, document, categorical
        Columns, as of `from_frame`.

    Returns
    -------
    Collection
        As of `from_frame`.

    Raises
    ------
    ValueError, TypeError
        If the file cannot be read, or a column does not exist or has a wrong value in a row, which is named.

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
    columns = Columns(query, relevance, sources, position, weight, document, categorical, features)
    return columns.read(path, name=str(path))
