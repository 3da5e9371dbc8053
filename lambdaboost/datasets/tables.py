"""`Table`: the columns of a pandas, polars or pyarrow table, or of a CSV or Parquet file, as arrays."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import Column
from lambdaboost._files import check_file, reading
from lambdaboost._installed import install_command
from lambdaboost._words import listed, quote
from lambdaboost.datasets.arrays import (
    as_array,
    float_type,
    is_missing,
    labels_of,
    query_ids,
    weights_of,
)
from lambdaboost.datasets.positions import Positions, positions_of

PARQUET = (".parquet", ".pq")
COMPRESSED = (".gz", ".xz", ".bz2")
CSV: dict[str, Any] = {"encoding": "utf-8-sig", "keep_default_na": False}
# Words for a missing number in CSV, ignoring case; ids and positions are missing only where the field is empty.
MISSING = ("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>")
NOT_NUMERIC = "encode it as numbers, make it a category, or leave it out"


class ColumnTypeError(TypeError, ValueError):
    """A column of a wrong type: the TypeError of an argument, or the ValueError of a file's contents."""


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a table, each of which is read in the same way wherever it comes from.

    A value is missing where it is null or NaN; in CSV where the field is empty or, in a column of numbers, a word such
    as NA.

    Attributes
    ----------
    frame : narwhals.DataFrame
    name : str
        What messages call the table: the argument, or the path of the file.
    first_row : int
        The number of the first row in messages: 0, or 1 in a file.
    csv : bool
        Whether the fields are text that stands for numbers.
    letor : bool
        Whether it was LETOR text, in which an absent feature is 0, as is the position of a row that was not shown.

    """

    frame: Any
    name: str = "df"
    first_row: int = 0
    csv: bool = False
    letor: bool = False

    @classmethod
    def of(cls, df: Any, name: str = "df") -> Table:
        """A pandas, polars or pyarrow table; raises TypeError for anything else."""
        if (frame := as_frame(name, df)) is None:
            raise TypeError(
                f"{name} must be a pandas, polars or pyarrow table, got {type(df).__name__}: convert it first"
            )
        return cls(frame, name)

    @classmethod
    def read(cls, path: Path, text: Iterable[str | None] = ()) -> Table:
        """A CSV or Parquet file; the columns `text` of CSV, such as ids, are not taken for numbers."""
        check_file(path)
        parquet = path.suffix.lower() in PARQUET
        try:
            frame = _read_parquet(path) if parquet else _read_csv(path, text)
        except ImportError as error:
            raise ValueError(f"{path}: {str(error).splitlines()[0]} {install_command('pyarrow')}") from None
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise
            what = "Parquet" if parquet else "CSV with a header"
            raise ValueError(f"{path} cannot be read as {what}: {error}") from None
        return cls(as_frame(str(path), frame.rename(columns=str)), str(path), 1, not parquet)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> list[Any]:
        """The names of the columns, in order."""
        return list(self.frame.columns)

    def check(self, column: Any, argument: str = "") -> None:
        """Raise if there is no such column; `argument` is what named it."""
        if column in (names := self.names):
            return
        close = get_close_matches(str(column), [name for name in names if isinstance(name, str)], 1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        hint = f"choose among {listed(names)}"
        if column in getattr(getattr(self.frame.to_native(), "index", None), "names", ()):
            hint = f"it is in the index; give {self.name}.reset_index()"
        before = f"{argument}: " if argument else ""
        raise ValueError(f"{before}{self.name} has no column {quote(column)}{meant}: {hint}")

    def describe(self, column: Any) -> Column:
        """What messages call a column."""
        return Column(f"column {quote(column)}", self.name, self.first_row)

    def series(self, column: Any) -> Any:
        """A column as a narwhals series."""
        return self.frame[:, self.names.index(column)]

    def column(self, column: Any) -> Any:
        """A column as a series of the table's own library."""
        return self.series(column).to_native()

    def values(self, column: Any, series: Any = None) -> NDArray[Any]:
        """A column, or those rows of it that `series` holds, as an array; raises TypeError for lists."""
        given = as_array(self.series(column) if series is None else series)
        if given.dtype.kind == "O" and not {list, dict, np.ndarray}.isdisjoint(map(type, given)):
            such_as = next(value for value in given if isinstance(value, list | dict | np.ndarray))
            raise ColumnTypeError(
                f"{self.describe(column)} of {self.name} holds lists, such as {quote(such_as)}: give one value per row"
            )
        return given

    def numbers(self, column: Any, remedy: str = NOT_NUMERIC) -> NDArray[Any]:
        """A column of numbers or truth values as floats, NaN where missing: float32 where it holds all of them."""
        given = self.values(column)
        if given.dtype.kind in "biuf":
            return given.astype(float_type(given.dtype), copy=False)
        words = given.dtype.kind == "O" and any(isinstance(value, str) for value in given.flat)
        if given.dtype.kind != "O" or (words and not self.csv):
            kind = self.series(column).dtype
            raise ColumnTypeError(f"{self.describe(column)} of {self.name} is {kind}, not numeric: {remedy}")
        import pandas as pd

        missing = is_missing(given)
        if self.csv:
            missing |= np.array([str(word).strip().lower() in MISSING for word in given])
        found = pd.to_numeric(pd.Series(given).mask(missing), errors="coerce").to_numpy(np.float64)
        if (wrong := np.isnan(found) & ~missing).any():
            name, row = self.describe(column), int(wrong.argmax())
            raise ColumnTypeError(f"{name} is {quote(given[row])} in {name.row(row)}, not a number: {remedy}")
        return found

    def labels(self, column: Any) -> NDArray[np.float32]:
        """A column of labels."""
        return labels_of(
            self.describe(column), self.numbers(column, "labels are numbers, such as grades from 0")
        )

    def weights(self, column: Any) -> NDArray[np.float32]:
        """A column of weights."""
        return weights_of(self.describe(column), self.numbers(column, "weights are numbers ≥ 0"))

    def factorize(self, column: Any) -> tuple[list[Any], NDArray[np.int64]]:
        """The different values of a column, and the place of that of each row, int64 (n_rows,); -1 where it is missing.

        The values are those of a pandas categorical type, else those in the rows; whole numbers exactly.

        >>> import pyarrow as pa
        >>> Table.of(pa.table({"c": ["b", None, "a", "b"]})).factorize("c")
        (['b', 'a'], array([ 0, -1,  1,  0]))
        """
        import pandas as pd

        native = self.column(column)
        if isinstance(getattr(native, "dtype", None), pd.CategoricalDtype):
            return native.cat.categories.tolist(), native.cat.codes.to_numpy().astype(np.int64)
        # Without nulls whole numbers stay whole: a float merges 2**53 and 2**53 + 1.
        series = self.series(column)
        there = ~series.is_null().to_numpy().astype(np.bool_)
        code, different = pd.factorize(self.values(column, series.drop_nulls()))
        of_row = np.full(there.size, -1)
        of_row[there] = code
        return different.tolist(), of_row

    def documents(self, column: Any) -> NDArray[np.str_]:
        """The name of each document, "" where it is missing."""
        values, of_row = self.factorize(column)
        return np.array([*map(category_text, values), ""], dtype=np.str_)[of_row]

    def matrix(self, columns: Sequence[Any]) -> NDArray[Any]:
        """Columns of numbers, shape (n_rows, n_columns): float32 where it holds all of them, else float64."""
        schema, names = self.frame.schema, self.names
        if not columns:
            return np.empty((len(self), 0), np.float32)
        if self.letor and (absent := [column for column in columns if column not in names]):
            there = [column for column in columns if column not in absent]
            padded = np.zeros((len(self), len(columns)), np.float32)
            padded[:, [at for at, column in enumerate(columns) if column in there]] = self.matrix(there)
            return padded
        if not self.csv and all(schema[name].is_float() or schema[name].is_integer() for name in columns):
            places: Any = [names.index(column) for column in columns]
            first, last = places[0], places[-1]
            if places == list(range(first, last + 1)):
                places = slice(first, last + 1)  # which copies nothing
            given = self.frame[:, places].to_numpy()
            if given.dtype.kind in "iuf":
                return given.astype(float_type(given.dtype), copy=False)
        return np.column_stack([self.numbers(column) for column in columns])

    def ids(self, column: Any) -> Any:
        """The query, or other key, of each row."""
        return query_ids(self.describe(column), self.values(column))

    def positions(self, column: Any) -> Positions:
        """The position of each row; those of CSV are ranks where every field that is not empty is a number."""
        given = self.column(column)
        if self.csv:
            import pandas as pd

            ranks = pd.to_numeric(given, errors="coerce")
            text = (given.notna() & ranks.isna()).to_numpy()
            if text.any() and ranks.notna().any():
                name, row = self.describe(column), int(text.argmax())
                raise ValueError(
                    f"{name} is {quote(given[row])} in {name.row(row)} and a number in other rows: give ranks in all "
                    "rows or text in all; an empty field is a row that was not shown"
                )
            given = given if text.any() else ranks
        if self.letor:
            given = given.mask(given == 0)
        return positions_of(self.describe(column), given)


def as_frame(name: str, X: Any) -> Any:
    """A pandas, polars or pyarrow table as a narwhals frame; None for anything else; raises if it is lazy."""
    if X is None or isinstance(X, np.ndarray | list | tuple | dict | str | Path):
        return None
    import narwhals as nw

    columns = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    if twice := [column for column in dict.fromkeys(columns) if columns.count(column) > 1]:
        raise ValueError(f"{name} has two columns {twice[0]!r}: rename one")
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


def category_text(value: Any) -> str:
    """The text by which a category is known: numbers without a point where they are whole.

    >>> category_text(7.0), category_text("07")
    ('7', '07')
    """
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if whole else value)


def grades_of(label: Any) -> NDArray[np.float32]:
    """The grades, possibly of shape (n, 1) or the only column of a table, as a new float32 array of shape (n,)."""
    if (frame := as_frame("label", label)) is not None and len(frame.columns) == 1:
        label = frame[:, 0].to_native()
    given = as_array(label)
    return labels_of("label", given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given)


def sources_by_name(sources: Any) -> dict[Any, Any]:
    """Label sources by name, from a mapping or from the columns of a pandas, polars or pyarrow table."""
    if (frame := as_frame("sources", sources)) is not None:
        return {name: frame[:, at].to_native() for at, name in enumerate(frame.columns)}
    if sources is None or hasattr(sources, "items"):
        return dict(sources or {})
    raise TypeError(
        f"sources is a {type(sources).__name__}: give a dict such as {{'clicks': rates}}, or a DataFrame"
    )


def is_table(path: Path) -> bool:
    """Whether the suffix is one of CSV or Parquet.

    >>> is_table(Path("train.csv.gz")), is_table(Path("train.txt"))
    (True, False)
    """
    *_, suffix = ["", *(one for one in map(str.lower, path.suffixes) if one not in COMPRESSED)]
    return suffix in (".csv", *PARQUET)


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

    with reading(path) as file:
        names = pd.read_csv(file, header=None, nrows=1, dtype=str, **CSV).iloc[0].tolist()
        _check_names(names)
        kinds = {name: str for name in text if name in names}
        file.seek(0)
        frame = pd.read_csv(file, low_memory=False, na_values=[""], dtype=kinds, **CSV)
        if not isinstance(frame.index, pd.RangeIndex):
            raise ValueError("rows have more cells than the header; name every column")
        if len(names) == 1 and (found := [letter for letter in ";\t|" if letter in names[0]]):
            raise ValueError(f"columns are separated by {found[0]!r}; separate them by commas")
        if len(names) > 1 and frame.iloc[:, -1].isna().any():
            file.seek(0)
            with suppress(csv.Error), io.TextIOWrapper(file, "utf-8-sig", newline="") as lines:
                _check_cells(lines, len(names))  # but for fields that are very long
    return frame


def _check_cells(lines: Iterable[str], n: int) -> None:
    """Raise for a row with fewer than `n` cells, whose last ones pandas takes for missing."""
    rows = (cells for cells in csv.reader(lines) if len(cells) > 1 or "".join(cells).strip())
    for row, cells in enumerate(rows):  # 0 is the header
        if len(cells) < n:
            raise ValueError(
                f"row {row} has {len(cells)} of {n} cells; complete it, or remove it where the file was cut off"
            )


def _check_names(names: Sequence[str]) -> None:
    """Raise if two columns have the same name: pandas would rename the second."""
    if twice := [name for name in dict.fromkeys(names) if name and names.count(name) > 1]:
        raise ValueError(f"it has two columns {listed(twice)}; rename one")
