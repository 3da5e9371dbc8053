"""`Table`: pandas, polars and pyarrow tables, CSV and Parquet, read in one way; `from_frame` and `read_table`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_new_source, naming_rows
from lambdaboost._files import check_file, reading
from lambdaboost._installed import remedy
from lambdaboost._words import listed, shown
from lambdaboost.datasets.arrays import codes_of, is_missing, query_ids, query_starts
from lambdaboost.datasets.categories import (
    Categories,
    categorical_frame,
    categories_in,
    check_unseen,
    codes_in,
    text_of_value,
    values_of,
    warn_of_unseen,
)
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.document_file import DocumentFile
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import Queries

FEATURES = "name it in categorical=, or exclude it with features="
PARQUET = (".parquet", ".pq")
COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
CSV: dict[str, Any] = {"encoding": "utf-8-sig", "keep_default_na": False}
# Words for a missing number in CSV, ignoring case; ids and positions are missing only where the field is empty.
MISSING = ("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>")


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
    weight, document : str, optional
        Columns with the weight of each row, as of `Queries`, and with its name.
    categorical : list of str, optional
        Features of text or whole numbers that become categories, beside those that have a categorical type.

    Returns
    -------
    Collection
        Features as float32 if every column is float32, else float64, NaN for nulls; with query ids and feature names.
        Categories are codes, from 0, whose values are in `Collection.categories`.

    Raises
    ------
    TypeError
        If `df` is no such table, or a feature or label column is not numeric.
    ValueError
        If a column does not exist, a query is null or its rows are not adjacent, or a label is infinite.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"q": ["a", "a", "b"], "bm25": [5.0, 2, 1], "grade": [0, 2, 1], "ctr": [0, 0.5, 0]})
    >>> X, q = from_frame(df, query="q", relevance="grade", sources={"clicks": "ctr"})
    >>> X.ravel(), q
    (array([5., 2., 1.]), Queries(3 documents in 2 queries; relevance, clicks))

    """
    table = Table.of(df)
    query_starts(f"column {shown(query)}", table.ids(query))  # raises unless each query is whole
    return table.collection(query, relevance, features, sources, position, weight, document, categorical)


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
        Columns, as of `from_frame`. The rows of a query may be apart: they come together in the order of the file, the
        queries in that of their first rows.

    Returns
    -------
    Collection
        As of `from_frame`.

    Raises
    ------
    ValueError
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
    table = Table.read(Path(path), (query, position, document, *categorical)).grouped(query)
    return table.collection(query, relevance, features, sources, position, weight, document, categorical)


@dataclass(frozen=True, eq=False)
class Table(DocumentFile):
    """The columns of a table, of which each is read in the same way wherever it comes from.

    Attributes
    ----------
    frame : narwhals.DataFrame
    path : Path, or None
        The file.
    order : int64 (n_rows,), or None
        The row of the file of each row, where the rows of a file were grouped or are some of its rows.
    csv : bool
        Whether the fields are text that stands for numbers.

    """

    frame: Any
    path: Path | None = None
    order: NDArray[np.int64] | None = None
    csv: bool = False

    @classmethod
    def of(cls, df: Any) -> Table:
        """A pandas, polars or pyarrow table; raises TypeError for anything else."""
        frame = as_frame("df", df)
        if frame is None:
            raise TypeError(
                f"df must be a pandas, polars or pyarrow table, got {type(df).__name__}: convert it first"
            )
        if wrong := [name for name in frame.columns if not isinstance(name, str)]:
            raise TypeError(
                f"df has a column named {wrong[0]!r}: names must be strings; use df.rename(columns=str)"
            )
        return cls(frame)

    @classmethod
    def read(cls, path: Path, text: Iterable[str | None] = ()) -> Table:
        """A CSV or Parquet file; the columns `text` of CSV, such as ids, are not taken for numbers."""
        frame = as_frame(str(path), _read(path, text).rename(columns=str))
        table = cls(frame, path, None, not _is_parquet(path))
        if not len(table):
            raise ValueError(f"{path} has no rows")
        return table

    @property
    def where(self) -> str:
        """What messages call the table."""
        return "df" if self.path is None else str(self.path)

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.frame.columns)

    def remedy(self, column: str) -> str:
        """What helps where there is no such column, which may be in the index."""
        return remedy_of_index(self.where, self.frame, column) or super().remedy(column)

    def column(self, column: str) -> Any:
        """A column as a series of the table's own library."""
        return self._column(column).to_native()

    def numbers(self, column: str, otherwise: str = FEATURES) -> NDArray[Any]:
        """A column of numbers or truth values as floats, NaN for nulls: float32 stays, others become float64."""
        series = self._column(column)
        dtype = series.dtype
        kind = np.float32 if str(dtype) == "Float32" else np.float64
        try:
            if dtype.is_numeric() or str(dtype) in ("Boolean", "Unknown"):
                given = series.to_numpy()
                if given.dtype.kind != "c":
                    given = np.where(is_missing(given), np.nan, given) if given.dtype.kind == "O" else given
                    return given.astype(kind)
            elif self.csv:
                return _from_words(series.to_numpy())
        except (TypeError, ValueError):
            pass
        found = f"{dtype}, not numeric"
        if self.csv:
            found = f"{self._first_word(series.to_numpy())}, not a number"
        raise TypeError(f"column {shown(column)} is {found}: encode it as numbers, or {otherwise}")

    def _first_word(self, given: NDArray[Any]) -> str:
        """The first field of CSV that stands for no number, and its row."""
        import pandas as pd

        words = ~np.isin([str(field).strip().lower() for field in given], MISSING)
        row = int((words & pd.to_numeric(pd.Series(given), errors="coerce").isna().to_numpy()).argmax())
        return f"{shown(given[row])} in {self.row_name(row)}"

    def matrix(
        self,
        columns: Sequence[str],
        otherwise: str = FEATURES,
        categories: Categories = MappingProxyType({}),
        unseen: str = "error",
    ) -> NDArray[Any]:
        """Features: float32 if all columns are, else float64; of columns with categories their codes."""
        found: dict[Any, str] = {}
        lost = found if check_unseen(unseen) == "missing" else None
        with self.told():
            matrix = np.column_stack(
                [
                    codes_in(column, self.values(column), categories[column], self.row_name, lost)
                    if column in categories
                    else self.numbers(column, otherwise)
                    for column in columns
                ]
            )
        warn_of_unseen(found)
        return matrix

    def categories(self, columns: Iterable[str], named: Iterable[str] = ()) -> dict[str, tuple[Any, ...]]:
        """The values of the columns of a categorical type, and of those that are `named`."""
        own = categories_in(self.frame)
        with self.told():
            own |= {column: values_of(column, self.values(column)) for column in named if column not in own}
        return {column: own[column] for column in columns if column in own}

    def names_of(self, column: str) -> NDArray[np.str_]:
        """The name of each row, "" where it is missing."""
        given = self.values(column)
        names = np.array([text_of_value(name) for name in given])
        return np.where(is_missing(given), "", names)

    def not_numeric(self, columns: Iterable[str]) -> list[str]:
        """Those of the columns that hold no numbers."""
        found = []
        for column in columns:
            try:
                self.numbers(column)
            except TypeError:
                found.append(column)
        return found

    def values(self, column: str) -> NDArray[Any]:
        """A column as an array, numbers or text; raises TypeError for lists."""
        given = self._column(column).to_numpy()
        if given.dtype.kind == "O" and not {list, dict, np.ndarray}.isdisjoint(map(type, given)):
            bad = next(value for value in given if isinstance(value, list | dict | np.ndarray))
            raise TypeError(
                f"column {shown(column)} holds lists, such as {shown(bad)}: give one value per row"
            )
        return given

    def ids(self, column: str) -> NDArray[Any]:
        """The query, or other key, of each row."""
        given = self.values(column)
        if (missing := is_missing(given)).any():
            row = self.row_name(int(missing.argmax()))
            raise ValueError(f"column {shown(column)} is missing in {row}: give the query of every row")
        return query_ids(f"column {shown(column)}", given)

    def positions(self, column: str) -> Positions:
        """The position of each row."""
        given = self.column(column)
        if self.csv:
            given = self._ranks_or_text(column)
        return positions_of(f"column {shown(column)}", given)

    def _ranks_or_text(self, column: str) -> NDArray[Any]:
        """The fields of CSV: numbers if all are, text if none is; raises ValueError for a mixture."""
        import pandas as pd

        fields = pd.Series(self.values(column))
        ranks = pd.to_numeric(fields, errors="coerce")
        text = (fields.notna() & ranks.isna()).to_numpy()
        if not text.any():
            return ranks.to_numpy(np.float64)
        if ranks.notna().any():
            row = int(text.argmax())
            raise ValueError(
                f"column {shown(column)} is {shown(fields[row])} in {self.row_name(row)} and a number in other rows: "
                "give ranks in all rows or text in all; an empty field is a row that was not shown"
            )
        return fields.to_numpy()

    def grouped(self, query: str) -> Table:
        """Queries in the order of their first rows, the rows of each in the order of the table."""
        with self.told():
            order = np.argsort(codes_of(self.ids(query))[0], kind="stable")
        if (order == np.arange(order.size)).all():
            return self
        return replace(self, frame=self.frame[order], order=order)

    def queries(
        self,
        query: str,
        relevance: str,
        sources: Mapping[str, str] = MappingProxyType({}),
        position: str | None = None,
        otherwise: str = FEATURES,
    ) -> Queries:
        """Queries with their label sources; the rows of a query are adjacent."""
        with self.told():
            return Queries(
                self.numbers(relevance, otherwise),
                ids=self.ids(query),
                position=None if position is None else self.positions(position),
                **{name: self.numbers(column, otherwise) for name, column in sources.items()},
            )

    def collection(
        self,
        query: str,
        relevance: str,
        features: Sequence[str] | None,
        sources: Sequence[str] | Mapping[str, str] = (),
        position: str | None = None,
        weight: str | None = None,
        document: str | None = None,
        categorical: Sequence[str] = (),
    ) -> Collection:
        """Features, queries and label sources; as `read_table`, for rows that are grouped."""
        for argument, given in (("features", features), ("sources", sources), ("categorical", categorical)):
            if isinstance(given, str):
                raise TypeError(f"{argument} is the string {given!r}: give a list, such as [{given!r}]")
        by_name = dict(sources) if isinstance(sources, Mapping) else {name: name for name in sources}
        for name in by_name:
            check_new_source(name)
        beside = [column for column in (position, weight, document) if column is not None]
        used = [query, relevance, *by_name.values(), *beside]
        names = [name for name in self.names if name not in used] if features is None else list(features)
        for column in [*used, *names, *categorical]:
            self.check(column)
        if idle := [column for column in categorical if column not in names]:
            raise ValueError(f"categorical has {shown(idle[0])}, which is no feature: leave it out")
        if not names:
            raise ValueError(
                f"features is empty: {self.where} needs at least one column besides the query and the labels"
            )
        q = self.queries(query, relevance, by_name, position)
        if weight is not None:
            with self.told():
                q = q.with_weight(self.numbers(weight))
        documents = None if document is None else self.names_of(document)
        categories = self.categories(names, categorical)
        matrix = self.matrix(names, categories=categories)
        return Collection(matrix, q, documents, tuple(names), categories)

    def naming_rows(self, rows: NDArray[np.int64] | None = None) -> AbstractContextManager[None]:
        """Name the row of the file in errors about a row; `rows` says how the rows here were reordered."""
        return nullcontext() if self.path is None else naming_rows(self.row_name, rows)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Name the file in errors about its contents, and the row in those about a row."""
        try:
            with self.naming_rows():
                yield
        except (TypeError, ValueError) as error:
            if self.path is None:
                raise
            said = str(error)
            raise ValueError(said if str(self.path) in said else f"{self.path}: {said}") from None

    def row_name(self, row: int) -> str:
        """The words for a row: counted from 0 in a frame, from 1 below the header in a file."""
        if self.path is None:
            return f"row {row}"
        return f"row {1 + int(row if self.order is None else self.order[row])} of {self.where}"

    def _column(self, column: str) -> Any:
        self.check(column)
        return self.frame.get_column(column)


def as_frame(name: str, X: Any) -> Any:
    """A pandas, polars or pyarrow table as a narwhals frame; None for anything else; raises if it is lazy."""
    if X is None or isinstance(X, np.ndarray | list | tuple | dict):
        return None
    import narwhals as nw

    columns = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ValueError(f"{name} has two columns {twice!r}: rename one")
    if columns and getattr(X.columns, "nlevels", 1) > 1:
        raise TypeError(
            f"{name} has names of two levels, such as {columns[0]!r}: join them, as in "
            f"{name}.columns = {name}.columns.map('_'.join)"
        )
    if type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        X = pa.Table.from_batches([X])
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{name} is a {type(X).__name__}: collect it first, as in {name}.collect()")
    return frame if isinstance(frame, nw.DataFrame) else None


def with_categories(name: str, X: Any, categories: Categories | None = None, unseen: str = "error") -> Any:
    """A table with categorical columns as a pandas frame with these categories, or its own; anything else as it is.

    Raises
    ------
    TypeError, ValueError
        If a row has a category that is not among these, unless `unseen` is ``"missing"``, or a column has categories
        that held numbers in training.

    Examples
    --------
    >>> import polars as pl
    >>> X = pl.DataFrame({"market": ["us", "de"]}, schema={"market": pl.Categorical})
    >>> with_categories("X", X, {"market": ("de", "fr", "us")}).market.cat.codes.tolist()
    [2, 0]

    """
    frame = as_frame(name, X)
    if frame is None or frame.implementation.is_cudf():
        return X
    own = categories_in(frame)
    chosen = own if categories is None else categories
    if wrong := [column for column in own if column not in chosen]:
        raise TypeError(
            f"{name} has categories in the column {wrong[0]!r}, which held numbers in training: give numbers"
        )
    pandas = frame.implementation.is_pandas()
    if not chosen or (pandas and all(_has_values(X[column], values) for column, values in chosen.items())):
        return X
    table, columns, found = Table(frame), {}, dict[Any, str]()
    lost = found if check_unseen(unseen) == "missing" else None
    for column in frame.columns:
        if column in chosen:
            columns[column] = codes_in(column, table.values(column), chosen[column], unseen=lost)
        else:
            columns[column] = X[column].array if pandas else table.numbers(column, "drop it")
    warn_of_unseen(found)
    return categorical_frame(columns, chosen)


def _has_values(column: Any, values: Sequence[Any]) -> bool:
    """Whether a pandas column has these categories, and whole ones as int64: XGBoost compares the types too."""
    own = getattr(getattr(column, "cat", None), "categories", np.empty(0))
    return own.tolist() == list(values) and (own.dtype.kind not in "iu" or own.dtype == np.int64)


def remedy_of_index(name: str, frame: Any, column: Any) -> str:
    """What helps where a column is a level of the index of a pandas frame; "" where it is not."""
    index = getattr(frame.to_native(), "index", None)
    return f"it is in the index; give {name}.reset_index()" if column in getattr(index, "names", ()) else ""


def is_table(path: Path) -> bool:
    """Whether the suffix is one of CSV or Parquet.

    >>> is_table(Path("train.csv.gz")), is_table(Path("train.txt"))
    (True, False)
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in (".csv", *PARQUET)


def _is_parquet(path: Path) -> bool:
    """Whether the suffix is one of Parquet."""
    return path.suffix.lower() in PARQUET


def _from_words(given: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers among words that stand for a missing one."""
    missing = is_missing(given) | np.array([str(word).strip().lower() in MISSING for word in given])
    return np.where(missing, np.nan, given).astype(np.float64)


def _read(path: Path, text: Iterable[str | None]) -> Any:
    """A file as a pandas frame; errors about its format name it."""
    check_file(path)
    try:
        return _read_parquet(path) if _is_parquet(path) else _read_csv(path, text)
    except ImportError as error:
        missing = "zstandard" if path.suffix.lower() == ".zst" else "pyarrow"
        raise ValueError(f"{path}: {str(error).splitlines()[0]} {remedy(missing)}") from None
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        what = "Parquet" if _is_parquet(path) else "CSV with a header"
        raise ValueError(f"{path} cannot be read as {what}: {error}") from None


def _read_parquet(path: Path) -> Any:
    """A Parquet file, in which a named index, such as a query, is a column; a numbering of the rows is none."""
    import pandas as pd

    with open(path, "rb") as file:
        frame = pd.read_parquet(file)
    _check_names(list(map(str, frame.columns)))
    named = [name for name in frame.index.names if name is not None]
    return frame if isinstance(frame.index, pd.RangeIndex) or not named else frame.reset_index(named)


def _read_csv(path: Path, text: Iterable[str | None]) -> Any:
    """A CSV file; what pandas would mend without a word is an error."""
    import pandas as pd

    zstd = path.suffix.lower() == ".zst"
    opened: AbstractContextManager[Any] = nullcontext(path) if zstd else reading(path)
    with opened as file:
        names = pd.read_csv(file, header=None, nrows=1, dtype=str, **CSV).iloc[0].tolist()
        _check_names(names)
        kinds = {name: str for name in text if name in names}
        if not zstd:
            file.seek(0)
        frame = pd.read_csv(file, low_memory=False, na_values=[""], dtype=kinds, **CSV)
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError("rows have more cells than the header; name every column")
    if len(names) == 1 and (found := [letter for letter in ";\t|" if letter in names[0]]):
        raise ValueError(f"columns are separated by {found[0]!r}; separate them by commas")
    return frame


def _check_names(names: Sequence[str]) -> None:
    """Raise if two columns have the same name: pandas would rename the second."""
    if twice := [name for name in dict.fromkeys(names) if name and names.count(name) > 1]:
        raise ValueError(f"it has two columns {listed(twice)}; rename one")
