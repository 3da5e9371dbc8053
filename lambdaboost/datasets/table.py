"""`open_table`: the one way in for tables and files; what comes out is a `Table`, which everything else reads.

========================================================  ===========================================================
given                                                     read as
========================================================  ===========================================================
a pandas, polars, pyarrow or narwhals table               columns by name
a file ``.csv``, ``.tsv``, also ``.gz .bz2 .xz .zip``     columns by name, whose fields are text or numbers
a file ``.parquet``, ``.pq``                              columns by name
any other file                                            LETOR text: features ``"1"``, ``"2"``, …, label, qid, document
a NumPy array, a list of rows, a scipy sparse matrix      features by place
========================================================  ===========================================================
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import naming_rows
from lambdaboost._files import SUFFIX, check_file, reading
from lambdaboost._installed import install_command
from lambdaboost._warn import warn
from lambdaboost._words import counted, listed, quote
from lambdaboost.datasets.arrays import as_array, float_type, is_missing, refuse_merged
from lambdaboost.datasets.letor import read_letor

QUERY, LABEL = "qid", "label"  # the columns of LETOR text, and the command line's defaults
DOCUMENT = "document"  # the names of its documents, if it has comments

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
# Files that people give and that are neither tables that we read nor LETOR text.
OTHER_FILES = (
    ".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".json", ".jsonl", ".ndjson", ".feather", ".arrow", ".ipc", ".pkl",
    ".pickle", ".npy", ".npz", ".db", ".sqlite", ".sqlite3", ".h5", ".hdf5", ".orc", ".dta", ".xml",
)  # fmt: skip
# Words for a missing number in CSV; ids and categories are missing only where the field is empty.
MISSING = ["NA", "Na", "na", "N/A", "n/a", "#N/A", "#n/a", "NaN", "NAN", "Nan", "nan", "-NaN", "-nan",
           "NULL", "Null", "null", "NONE", "None", "none", "<NA>", "<na>"]  # fmt: skip
ROUNDED = r"\d\.\d+E\+\d+"  # a long number, as spreadsheets show and save it
PADDED = r" ?0\d"  # the beginning of a number with leading zeros, which may be a code
INDEX = r"__index_level_\d+__"  # the name of an index without a name in a table of Arrow
NOT_NUMERIC = "encode it as numbers, make it categorical, or drop it"
# LETOR text becomes a dense table of up to so many values, 4 GiB, and features, each of which has a name.
MOST_VALUES, MOST_FEATURES = 1 << 30, 1 << 20


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a table, a file or an array; made by `open_table`.

    Which values are missing is said in `columns`.

    Attributes
    ----------
    name : str
        What messages call the table: the argument, or the path of the file.
    frame : narwhals.DataFrame
        The columns with names; that of an array is empty.
    matrix : array or sparse matrix of shape (n_rows, n), or None
        What was given as an array; `feature_array` checks it, since a pipeline may encode it.
    format : "table", "csv", "parquet" or "letor"
        What it was read from. In LETOR text, an absent feature is 0; texts of CSV may be numbers.
    padded : mapping of str to str
        The columns of CSV that are text since they hold numbers with leading zeros, each with the first such field: as
        codes, 007 and 7 are two.

    """

    name: str
    frame: Any
    matrix: Any = None
    format: str = "table"
    padded: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        if self.is_named:
            return len(self.frame)
        shape = getattr(self.matrix, "shape", None) or (len(self.matrix),)
        return int(shape[0])

    @property
    def is_named(self) -> bool:
        """Whether columns have names; those of an array have only a place."""
        return self.matrix is None

    @property
    def names(self) -> list[Any]:
        """The names of the columns, in order."""
        return list(self.frame.columns)

    @cached_property
    def schema(self) -> Mapping[Any, Any]:
        """The type of each column, which takes longer to find than to read few rows."""
        types: Mapping[Any, Any] = self.frame.schema
        return types

    @property
    def categorical(self) -> list[Any]:
        """The names of the columns of a categorical type."""
        return [name for name, kind in self.schema.items() if kind in (nw.Categorical, nw.Enum)]

    def place(self, row: int) -> str:
        """The words for a row, counted from 0 in a table, from 1 below the header in a file."""
        return f"row {row if self.format == 'table' else 1 + row} of {self.name}"

    def check(self, column: Any, argument: str) -> None:
        """Raise if there is no such column; `argument` is what named it."""
        names = self.names
        if column in names:
            return
        if column is None:
            raise ValueError(f"{argument}: {self.name} has no column for it: name its column, or give it")
        close = get_close_matches(str(column), [name for name in names if isinstance(name, str)], 1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        hint = f"choose among {listed(names)}"
        if not self.is_named:
            hint = "give a table with it"
            if argument == "query":
                hint += (
                    ", or the queries as group= or qid= where the call has these (of a set, as eval_group= or "
                    "eval_qid=; in searches of scikit-learn, which score too, by its metadata routing)"
                )
        if column in getattr(getattr(self.frame.to_native(), "index", None), "names", ()):
            hint = f"it is in the index; give {self.name}.reset_index()"
        raise ValueError(f"{argument}: {self.name} has no column {quote(column)}{meant}: {hint}")

    def series(self, column: Any) -> Any:
        """A column as a narwhals series; its name need not be text."""
        return self.frame[:, self.names.index(column)]

    def column(self, column: Any) -> Any:
        """A column as a series of the table's own library."""
        return self.series(column).to_native()

    def values(self, column: Any) -> NDArray[Any]:
        """A column as an array with a value for each row; raises ValueError for lists and structs."""
        series = self.series(column)
        values = as_array(series)
        is_flat = values.ndim == 1 and values.dtype.kind != "V"  # polars' structs
        if is_flat and (values.dtype.kind != "O" or {list, dict, np.ndarray}.isdisjoint(map(type, values))):
            return values
        such_as = quote(series.drop_nulls().head(1).to_list()[0])
        raise ValueError(
            f"column {quote(column)} of {self.name} holds lists, such as {such_as}: give one value per row"
        )

    def numbers(self, columns: Sequence[Any], remedy: str = NOT_NUMERIC) -> NDArray[Any]:
        """Columns of numbers or truth values, shape (n_rows, n_columns), NaN where missing.

        They are float32 where it holds all of them, else float64.

        Raises
        ------
        ValueError
            If columns hold no numbers; names every one of them, and the `remedy`.

        """
        if not columns:
            return np.empty((len(self), 0), np.float32)

        # All columns at once, without a copy where they are adjacent numbers in one block of memory.
        of_128_bits = nw.Int128, nw.UInt128
        kinds = [self.schema[name] for name in columns]
        if all(kind.is_float() or (kind.is_integer() and kind not in of_128_bits) for kind in kinds):
            place = {name: at for at, name in enumerate(self.names)}
            chosen: Any = [place[column] for column in columns]
            first, last = chosen[0], chosen[-1]
            if chosen == list(range(first, last + 1)):
                chosen = slice(first, last + 1)
            given = self.frame[:, chosen].to_numpy()
            if given.dtype.kind in "iuf":
                return given.astype(float_type(given.dtype), copy=False)

        # Column by column; whoever mends one wants to know of all.
        found, faults = [], []
        for column in columns:
            values = self.values(column)
            if values.dtype.kind in "biuf":
                found.append(values.astype(float_type(values.dtype), copy=False))
                continue
            if values.dtype.kind != "O":
                faults.append(f"column {quote(column)} of {self.name} is {self.schema[column]}, not numeric")
                continue
            # Objects are numbers with missing ones, or text, which is refused where it looks like numbers too.
            floats = parse_numbers(values)
            found.append(floats)
            texts = (value for value in values if isinstance(value, str | bytes))
            if (wrong := np.isnan(floats) & ~is_missing(values)).any():
                row = int(wrong.argmax())
                faults.append(
                    f"column {quote(column)} is {quote(values[row])} in {self.place(row)}, not a number"
                )
            elif self.format != "csv" and (text := next(texts, None)) is not None:
                faults.append(f"column {quote(column)} of {self.name} holds text, such as {quote(text)}")
        if faults:
            named = "; ".join(faults[:8])
            if len(faults) > 8:
                named += f"; and {counted(len(faults) - 8, 'column')} more"
            if len(faults) > 1:
                remedy = "encode them as numbers, make them categorical, or drop them"
            raise ValueError(f"{named}: {remedy}")
        return np.column_stack(found)

    def factorize(self, column: Any) -> tuple[list[Any], NDArray[np.int64]]:
        """The different values of a column, and the place of that of each row, int64 (n_rows,); -1 where it is missing.

        The values are those of a pandas categorical type, else those in the rows; whole numbers exactly: floats so
        large that neighbouring ones merge raise ValueError.

        >>> import pyarrow as pa
        >>> open_table(pa.table({"c": ["b", None, "a", "b"]})).factorize("c")
        (['b', 'a'], array([ 0, -1,  1,  0]))
        """
        import pandas as pd

        native = self.column(column)
        if isinstance(getattr(native, "dtype", None), pd.CategoricalDtype):
            return native.cat.categories.tolist(), native.cat.codes.to_numpy().astype(np.int64)
        values, series = self.values(column), self.series(column)
        there = ~series.is_null().to_numpy().astype(np.bool_)
        if not there.all():
            # Without nulls whole numbers stay whole: a float merges 2**53 and 2**53 + 1.
            values = as_array(series[np.flatnonzero(there)])
        with naming_rows(lambda row: self.place(int(np.flatnonzero(there)[row]))):
            refuse_merged(f"column {quote(column)}", values)
        code, different = pd.factorize(values)
        of_row = np.full(there.size, -1)
        of_row[there] = code
        return different.tolist(), of_row


def open_table(data: Any, name: str = "df", text: Iterable[str | None] = (), absent: float = 0.0) -> Table:
    """A table, a file or an array as a `Table`, which may be read several times; a `Table` itself is returned.

    Parameters
    ----------
    data : table, path, array or sparse matrix
        As in the table above.
    name : str
        What messages call a table or an array; a file is called by its path.
    text : list of str
        Columns of CSV that are text also where they look like numbers, such as ids.
    absent : float
        The value of features that lines of LETOR text do not have, as of `read_letor`.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        If the data are none of these, are lazy or have no rows, or a file cannot be read; names the remedy.

    Examples
    --------
    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"q": [7, 7], "bm25": [0.5, 0.25]}))
    >>> table.names, len(table), table.numbers(["bm25"]).ravel()
    (['q', 'bm25'], 2, array([0.5 , 0.25]))

    """
    if isinstance(data, Table):
        table = data
    elif isinstance(data, str | os.PathLike):
        table = _open_file(Path(data), text, absent)
    elif data is None or (isinstance(data, dict) and not hasattr(data, "shape")):  # a DOK matrix is a dict
        raise TypeError(
            f"{name} must be a pandas, polars or pyarrow table, an array, or the path of a file, got "
            f"{type(data).__name__}: convert it first"
        )
    else:
        # What pandas allows and no reader could tell apart.
        if hasattr(data, "iloc") and hasattr(data, "columns"):
            columns = data.columns
            if columns.has_duplicates:
                raise ValueError(f"{name} has two columns {columns[columns.duplicated()][0]!r}: rename one")
            if columns.nlevels > 1:
                raise TypeError(
                    f"{name} has names of two levels, such as {columns[0]!r}: join them, as in "
                    f"{name}.columns = {name}.columns.map('_'.join)"
                )
        frame = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise TypeError(
                f"{name} is of type {type(data).__name__}: collect it first, as in {name}.collect()"
            )
        if isinstance(frame, nw.DataFrame):
            # The numbers of a pandas frame's rows, which stand so in what is made of it, or of its Parquet file.
            numbering = [one for one in frame.columns if re.fullmatch(INDEX, str(one))]
            if numbering:
                frame = frame.drop(numbering)
            table = Table(name, frame)
        else:
            table = Table(name, no_columns(), data)
    if not len(table):
        raise ValueError(f"{table.name} has no rows: give those of one query at least")
    return table


@cache
def no_columns() -> Any:
    """The frame of an array, whose columns have no names."""
    import pandas as pd

    return nw.from_native(pd.DataFrame())


def parse_numbers(values: Any) -> NDArray[np.float64]:
    """Objects as numbers, which texts may be, and NaN in place of any other object, such as a date.

    >>> parse_numbers(["07", 2, None, "x"])
    array([ 7.,  2., nan, nan])
    """
    import pandas as pd

    # As another type than objects pandas would count the nanoseconds of dates.
    return np.asarray(pd.to_numeric(pd.Series(values, dtype=object), errors="coerce"), dtype=np.float64)


def category_text(value: Any) -> str:
    """The text by which a category is known, as is a document: numbers without a point where they are whole.

    >>> category_text(7.0), category_text("07")
    ('7', '07')
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _open_file(path: Path, text: Iterable[str | None], absent: float) -> Table:
    """A file by its ending: CSV, Parquet, or LETOR text."""
    import pandas as pd

    check_file(path)
    *_, ending = ["", *(one for one in map(str.lower, path.suffixes) if one not in (*SUFFIX, ".zip"))]
    if ending in OTHER_FILES:
        raise ValueError(
            f"{path} is a {ending} file, which is not read here: read it with pandas, and give the table, or save it "
            "as CSV or Parquet"
        )
    if ending not in SEPARATORS and ending not in PARQUET:
        if path.suffix.lower() == ".zip":
            raise ValueError(f"{path} is a zip file of no table: unpack it, or compress it by gzip")
        # LETOR text: columns of features, grades, queries and names.
        X, q = data = read_letor(path, absent=absent)
        if data.n_features > MOST_FEATURES or X.shape[0] * X.shape[1] > MOST_VALUES:
            raise ValueError(
                f"{path} has {X.shape[0]} rows of {data.n_features} features, too many for a table: number the "
                "features anew, or give what read_letor reads, which stays sparse"
            )
        if not isinstance(X, np.ndarray):
            X = X.toarray()
        names = [str(feature) for feature in range(1, data.n_features + 1)]
        frame = pd.DataFrame(X, columns=names, copy=False)
        frame[LABEL], frame[QUERY] = q.relevance, np.repeat(np.arange(1, q.n_queries + 1), q.sizes)
        if q.ids is not None:
            frame[QUERY] = np.repeat(q.ids, q.sizes)
        if data.documents is not None:
            frame[DOCUMENT] = data.documents
        return Table(str(path), nw.from_native(frame), format="letor")

    # A table, whose file is damaged or whose library lacks: errors say which file.
    padded: dict[str, str] = {}
    file_format, what = "csv", "CSV with a header"
    if ending in PARQUET:
        file_format, what = "parquet", "Parquet"
    try:
        if ending in SEPARATORS:
            frame, padded = _read_csv(path, SEPARATORS[ending], text)
        else:
            with open(path, "rb") as file:
                frame = pd.read_parquet(file)
            _check_names(list(map(str, frame.columns)))
            # A named index, such as a query, is a column; a numbering of the rows is none.
            named = [name for name in frame.index.names if name is not None]
            if named and not isinstance(frame.index, pd.RangeIndex):
                frame = frame.reset_index(named)
    except ImportError as error:
        raise ValueError(f"{path}: {str(error).splitlines()[0]} {install_command('pyarrow')}") from None
    except (ValueError, OSError, RuntimeError) as error:  # the latter of zip files with a password
        if isinstance(error, OSError) and error.filename is not None:
            raise
        fault = str(error).partition("\n")[0]  # below it Arrow lists all columns
        if isinstance(error, UnicodeDecodeError):
            fault += "; save it as UTF-8"
        raise ValueError(f"{path} cannot be read as {what}: {fault}") from None
    return Table(str(path), nw.from_native(frame.rename(columns=str)), format=file_format, padded=padded)


def _read_csv(path: Path, separator: str, text: Iterable[str | None]) -> tuple[Any, dict[str, str]]:
    """A CSV file, and its `Table.padded`; what pandas would mend without a word is an error."""
    import pandas as pd

    with reading(path) as file:
        data = file.read()
    settings: dict[str, Any] = {"encoding": "utf-8-sig", "keep_default_na": False, "sep": separator}
    header = pd.read_csv(io.BytesIO(data), header=None, nrows=1, dtype=str, **settings)
    names = header.iloc[0].tolist()
    _check_names(names)
    if len(names) == 1 and (found := [one for one in ";,\t|" if one != separator and one in names[0]]):
        by = {",": "commas", "\t": "tabs"}[separator]
        raise ValueError(f"columns are separated by {found[0]!r}; separate them by {by}")

    # Columns that are text are missing only where they are empty. A column without a name is called so by pandas.
    kept = {name for name in text if name is not None}
    empty = ["", *MISSING, *(f" {word}" for word in MISSING)]
    called = [name or f"Unnamed: {at}" for at, name in enumerate(names)]
    settings["na_values"] = {name: [""] if name in kept else empty for name in called}
    frame = pd.read_csv(io.BytesIO(data), low_memory=False, dtype=dict.fromkeys(kept, str), **settings)
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes the first cells for an index
        raise ValueError(f"row 1 has more cells than the header, which has {len(names)}; name each column")
    has_exponents = b"E+" in data
    for name in frame.columns.intersection(list(kept)):
        if words := sorted(frame[name][frame[name].isin(MISSING)].unique()):
            warn(
                f"column {quote(name)} of {path} holds {listed(words)}, read as text like any other: leave the field "
                "empty where the value is missing"
            )
        if has_exponents and (rounded := frame[name].str.fullmatch(ROUNDED, na=False)).any():
            warn(
                f"column {quote(name)} of {path} holds {quote(frame[name][rounded].iloc[0])}, as a spreadsheet rounds "
                "a long number, so that different ones may have become one: save the column as text or as whole numbers"
            )

    # A row with fewer cells has missing ones for pandas; where fields are very long this is not checked.
    if len(names) > 1 and frame.iloc[:, -1].isna().any():
        with suppress(csv.Error), io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="") as lines:
            rows = csv.reader(lines, delimiter=separator)
            filled = (cells for cells in rows if len(cells) > 1 or "".join(cells).strip())
            for row, cells in enumerate(filled):  # 0 is the header
                if len(cells) < len(names):
                    raise ValueError(
                        f"row {row} has {len(cells)} of {len(names)} cells; complete it, or remove it where the file "
                        "was cut off"
                    )

    # Numbers with leading zeros may be codes, of which 007 and 7 are two: their columns are text. Those of the columns
    # that are text already are counted; only where the file has more is it read again.
    padded: dict[str, str] = {}
    is_numeric = [getattr(kind, "kind", "") in "iuf" for kind in frame.dtypes]
    texts = (fields for _, fields in frame.loc[:, np.logical_not(is_numeric)].items())
    in_texts = sum(int(fields.astype(str).str.match(PADDED, na=False).sum()) for fields in texts)
    if count_leading_zeros(data, separator) > in_texts:
        whole = [at for at in np.flatnonzero(is_numeric) if (frame.iloc[:, at].dropna() % 1 == 0).all()]
        again = pd.read_csv(io.BytesIO(data), low_memory=False, dtype=str, usecols=whole, **settings)
        for name, fields in again.items():
            if (is_padded := fields.str.match(PADDED, na=False)).any():
                frame[name], padded[str(name)] = fields, fields[is_padded].iloc[0]
    return frame, padded


def count_leading_zeros(data: bytes, separator: str) -> int:
    r"""How many fields begin with a zero and another digit, or so behind a blank; more if a text holds what looks so.

    >>> count_leading_zeros(b'q,x\n007,0.5\n"08",10\n', ",")
    2
    """
    letters = np.frombuffer(data, np.uint8)
    before, letter, after = letters[:-2], letters[1:-1], letters[2:]
    # Few zeros stand after what comes before digits, as separators, quotes and ends of lines do.
    found = (letter == ord("0")) & (before < ord("0")) & (after >= ord("0")) & (after <= ord("9"))
    at = 1 + np.flatnonzero(found)
    begins = np.where(letters[at - 1] == ord(" "), letters[at - 2], letters[at - 1])
    return int(np.isin(begins, list(f'{separator}\n\r"'.encode())).sum())


def _check_names(names: Sequence[str]) -> None:
    """Raise if two columns have the same name: pandas would rename the second."""
    if twice := [name for name in dict.fromkeys(names) if name and names.count(name) > 1]:
        raise ValueError(f"it has two columns {listed(twice)}; rename one")
