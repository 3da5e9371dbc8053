"""`Table`: the columns of a pandas, polars or pyarrow table, or of a CSV or Parquet file, as arrays."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import Column
from lambdaboost._files import check_file, reading
from lambdaboost._installed import install_command
from lambdaboost._words import listed, shown
from lambdaboost.datasets.arrays import array_of, float_type, is_missing, labels_of, query_ids
from lambdaboost.datasets.positions import Positions, positions_of

PARQUET = (".parquet", ".pq")
COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
CSV: dict[str, Any] = {"encoding": "utf-8-sig", "keep_default_na": False}
# Words for a missing number in CSV, ignoring case; ids and positions are missing only where the field is empty.
MISSING = ("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>")
NOT_NUMERIC = "encode it as numbers, make it a category, or leave it out"


class WrongType(TypeError, ValueError):
    """A column of a wrong type: the TypeError of an argument, or the ValueError of a file's contents."""


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a table, each of which is read in the same way wherever it comes from.

    A value is missing where it is null or NaN; in CSV where the field is empty or, in a column of numbers, a word such
    as NA.

    Attributes
    ----------
    frame : narwhals.DataFrame
    where : str
        What messages call the table: the argument, or the path of the file.
    first : int
        The number of the first row in messages: 0, or 1 in a file.
    csv : bool
        Whether the fields are text that stands for numbers.

    """

    frame: Any
    where: str = "df"
    first: int = 0
    csv: bool = False

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
        frame = as_frame(str(path), _read(path, text).rename(columns=str))
        return cls(frame, str(path), 1, not _is_parquet(path))

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> list[Any]:
        """The names of the columns, in order."""
        return list(self.frame.columns)

    def check(self, column: Any, argument: str = "") -> None:
        """Raise if there is no such column; `argument` is what named it."""
        names = self.names
        if column in names:
            return
        close = get_close_matches(str(column), [name for name in names if isinstance(name, str)], 1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        index = getattr(self.frame.to_native(), "index", None)
        hint = f"choose among {listed(names)}"
        if column in getattr(index, "names", ()):
            hint = f"it is in the index; give {self.where}.reset_index()"
        before = f"{argument}: " if argument else ""
        raise ValueError(f"{before}{self.where} has no column {shown(column)}{meant}: {hint}")

    def called(self, column: Any) -> Column:
        """What messages call a column."""
        return Column(f"column {shown(column)}", self.where, self.first)

    def series(self, column: Any) -> Any:
        """A column as a narwhals series."""
        return self.frame[:, self.names.index(column)]

    def column(self, column: Any) -> Any:
        """A column as a series of the table's own library."""
        return self.series(column).to_native()

    def values(self, column: Any) -> NDArray[Any]:
        """A column as an array; text and mixed types are objects."""
        return self.checked(column, self.series(column))

    def checked(self, column: Any, series: Any) -> NDArray[Any]:
        """The rows of a column that are given, as an array; raises TypeError for lists."""
        given = array_of(series)
        if given.dtype.kind == "O" and not {list, dict, np.ndarray}.isdisjoint(map(type, given)):
            such_as = next(value for value in given if isinstance(value, list | dict | np.ndarray))
            raise WrongType(
                f"{self.called(column)} of {self.where} holds lists, such as {shown(such_as)}: give one value per row"
            )
        return given

    def numbers(self, column: Any) -> NDArray[Any]:
        """A column of numbers or truth values as floats, NaN where missing: float32 where it holds all of them."""
        given, dtype = self.values(column), self.series(column).dtype
        if given.dtype.kind in "biuf":
            return given.astype(float_type(given.dtype), copy=False)
        words = (
            np.array([isinstance(value, str) for value in given.flat]) if given.dtype.kind == "O" else None
        )
        if words is not None and (self.csv or not words.any()):
            import pandas as pd

            missing, numbers = is_missing(given), pd.Series(given)
            if self.csv:
                missing |= np.array([str(word).strip().lower() in MISSING for word in given])
            found = pd.to_numeric(numbers.mask(missing), errors="coerce").to_numpy(np.float64)
            wrong = np.isnan(found) & ~missing
            if not wrong.any():
                return found
            row = int(wrong.argmax())
            name = self.called(column)
            raise WrongType(f"{name} is {shown(given[row])} in {name.row(row)}, not a number: {NOT_NUMERIC}")
        raise WrongType(f"{self.called(column)} of {self.where} is {dtype}, not numeric: {NOT_NUMERIC}")

    def matrix(self, columns: Sequence[Any]) -> NDArray[Any]:
        """Columns of numbers, shape (n_rows, n_columns): float32 where it holds all of them, else float64."""
        schema = self.frame.schema
        if not self.csv and all(schema[name].is_float() or schema[name].is_integer() for name in columns):
            names = self.names
            places = [names.index(column) for column in columns]
            given = (self.frame if list(columns) == names else self.frame[:, places]).to_numpy()
            if given.dtype.kind in "iuf":
                return given.astype(float_type(given.dtype), copy=False)
        return np.column_stack([self.numbers(column) for column in columns])

    def ids(self, column: Any) -> NDArray[Any]:
        """The query, or other key, of each row."""
        return query_ids(self.called(column), self.values(column))

    def positions(self, column: Any) -> Positions:
        """The position of each row; those of CSV are ranks where every field that is not empty is a number."""
        given = self.column(column)
        if self.csv:
            import pandas as pd

            ranks = pd.to_numeric(given, errors="coerce")
            text = (given.notna() & ranks.isna()).to_numpy()
            if text.any() and ranks.notna().any():
                name, row = self.called(column), int(text.argmax())
                raise ValueError(
                    f"{name} is {shown(given[row])} in {name.row(row)} and a number in other rows: give ranks in all "
                    "rows or text in all; an empty field is a row that was not shown"
                )
            given = given if text.any() else ranks
        return positions_of(self.called(column), given)


def as_frame(name: str, X: Any) -> Any:
    """A pandas, polars or pyarrow table as a narwhals frame; None for anything else; raises if it is lazy."""
    if X is None or isinstance(X, np.ndarray | list | tuple | dict | str | Path):
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


def grades_of(label: Any) -> NDArray[np.float32]:
    """The grades, possibly of shape (n, 1) or the only column of a table, as a new float32 array of shape (n,)."""
    if (frame := as_frame("label", label)) is not None and len(frame.columns) == 1:
        label = frame[:, 0].to_native()
    given = array_of(label)
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
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in (".csv", *PARQUET)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET


def _read(path: Path, text: Iterable[str | None]) -> Any:
    """A file as a pandas frame; errors about its format name it."""
    check_file(path)
    try:
        frame = _read_parquet(path) if _is_parquet(path) else _read_csv(path, text)
    except ImportError as error:
        missing = "zstandard" if path.suffix.lower() == ".zst" else "pyarrow"
        raise ValueError(f"{path}: {str(error).splitlines()[0]} {install_command(missing)}") from None
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        what = "Parquet" if _is_parquet(path) else "CSV with a header"
        raise ValueError(f"{path} cannot be read as {what}: {error}") from None
    return frame


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

    with _opened(path) as file:
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


def _opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    """The bytes of a file, decompressed."""
    if path.suffix.lower() != ".zst":
        return reading(path)
    import zstandard  # type: ignore[import-not-found]

    with zstandard.open(path, "rb") as file:
        return io.BytesIO(file.read())


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
