"""`open_data`: read a file of documents, LETOR text or a table, with named columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection, Queries, from_frame, read_letor
from lambdaboost.datasets._files import reading

QUERY, LABEL = "qid", "label"  # default columns of a table
PARQUET = (".parquet", ".pq")
COMPRESSED = (".gz", ".xz", ".bz2", ".zst")


class DataFile(ABC):
    """A file that was read; its columns have names, which are numbers from 1 for LETOR text."""

    path: Path

    def grouped(self, query: str | None) -> DataFile:
        """The same documents with adjacent rows per query, which LETOR text requires anyway."""
        return self

    def as_grouped(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reorder values from the order of the file to that of these rows."""
        return values

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""

    @abstractmethod
    def labelled(self, query: str | None, label: str | None) -> tuple[str, ...]:
        """The columns of queries and labels, which are not features; none in LETOR text."""

    @abstractmethod
    def queries(self, query: str | None, label: str | None) -> Queries:
        """Queries and grades."""

    @abstractmethod
    def matrix(self, names: Sequence[str]) -> Any:
        """Features: these columns, dense or CSR."""

    @abstractmethod
    def values(self, name: str) -> NDArray[Any]:
        """One column, numbers or text, shape (n_documents,)."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of documents."""

    @property
    def documents(self) -> NDArray[np.str_] | None:
        """Names of the documents, if the file has any."""
        return None


@dataclass(frozen=True, eq=False)
class LetorFile(DataFile):
    """LETOR text."""

    path: Path
    collection: Collection

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The numbers from 1 as text."""
        return tuple(map(str, range(1, self.collection.n_features + 1)))

    def __len__(self) -> int:
        """Lines."""
        return self.collection.queries.n_documents

    @property
    def documents(self) -> NDArray[np.str_] | None:
        """Names from the comments."""
        return self.collection.documents

    def labelled(self, query: str | None, label: str | None) -> tuple[str, ...]:
        """None: grade and qid are not columns."""
        if query is not None or label is not None:
            option = "--query" if query is not None else "--label"
            raise ValueError(
                f"{option} is for tables, but {self.path} is LETOR text, which has its own: omit {option}"
            )
        return ()

    def queries(self, query: str | None, label: str | None) -> Queries:
        """Queries and grades of the text."""
        return self.collection.queries

    def matrix(self, names: Sequence[str]) -> Any:
        """Dense or CSR, as returned by `read_letor`."""
        if len(names) == len(self.names):
            return self.collection.features
        return self.collection.features[:, [int(name) - 1 for name in names]]

    def values(self, name: str) -> NDArray[Any]:
        """As float32."""
        column = self.collection.features[:, [int(name) - 1]]
        return np.asarray(column if isinstance(column, np.ndarray) else column.toarray()).ravel()

    def widened(self, n: int) -> LetorFile:
        """The same text with columns of zeros up to column `n`, which LETOR text may omit."""
        X = self.collection.features
        if isinstance(X, np.ndarray):
            X = np.pad(X, ((0, 0), (0, n - X.shape[1])))
        else:
            X = X.copy()
            X.resize((X.shape[0], n))
        return LetorFile(self.path, replace(self.collection, features=X))


@dataclass(frozen=True, eq=False)
class TableFile(DataFile):
    """CSV or Parquet, as a pandas frame; if grouped, `order` is the row in the file of each row."""

    path: Path
    frame: Any
    order: NDArray[np.int64] | None = None

    def grouped(self, query: str | None) -> TableFile:
        """Queries in the order of their first rows, the rows of each in the order of the file."""
        name = self._chosen("--query", query, QUERY)
        if name is None:
            return self
        if (null := self.frame[name].isna().to_numpy()).any():
            row = int(null.argmax()) + 1
            raise ValueError(f"{self.path}: column {name} is empty in row {row}: give the query of every row")
        order = np.argsort(self.frame[name].factorize()[0], kind="stable")
        if (order == np.arange(order.size)).all():
            return self
        return TableFile(self.path, self.frame.iloc[order], order)

    def as_grouped(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reorder values by the rows of the file."""
        return values if self.order is None else values[self.order]

    def __len__(self) -> int:
        """Rows."""
        return len(self.frame)

    @property
    def names(self) -> tuple[str, ...]:
        """The header."""
        return tuple(map(str, self.frame.columns))

    def labelled(self, query: str | None, label: str | None) -> tuple[str, ...]:
        """The given columns, else those of `qid` and `label` that exist."""
        chosen = self._chosen("--query", query, QUERY), self._chosen("--label", label, LABEL)
        return tuple(name for name in chosen if name is not None)

    def queries(self, query: str | None, label: str | None) -> Queries:
        """Queries and grades of the two columns; the rows of a query must be adjacent, as after `grouped`."""
        of_query, of_label = self._chosen("--query", query, QUERY), self._chosen("--label", label, LABEL)
        for option, name, what in (("--query", of_query, "query"), ("--label", of_label, "grade")):
            if name is None:
                raise ValueError(
                    f"{self.path} is a table: give the column with the {what} of each row as {option}; "
                    f"it has {shown(self.names)}"
                )
        assert of_query is not None and of_label is not None
        if of_query == of_label:
            raise ValueError(f"{self.path}: {of_query} is given as --query and as --label: give two columns")
        self._check_numbers([of_label], "--label")
        few = self.frame[[of_query, of_label]].assign(**{"\N{NULL}": 0.0})  # from_frame needs a feature
        try:
            return from_frame(few, query=of_query, relevance=of_label).queries
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.path}: {error}") from None

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Dense, NaN for missing values."""
        self._check_numbers(names, "--drop")
        return self.frame[list(names)].to_numpy(dtype=np.float64, na_value=np.nan)

    def values(self, name: str) -> NDArray[Any]:
        """The column as pandas returns it."""
        return self.frame[name].to_numpy()

    def _chosen(self, option: str, given: str | None, default: str) -> str | None:
        if given is None:
            return default if default in self.names else None
        if given not in self.names:
            raise ValueError(
                f"{option} {given}: {self.path} has no column {given!r}, only {shown(self.names)}"
            )
        return given

    def _check_numbers(self, names: Sequence[str], option: str) -> None:
        from pandas.api.types import is_complex_dtype, is_numeric_dtype

        kinds = {name: self.frame[name].dtype for name in names}
        texts = [name for name, kind in kinds.items() if not is_numeric_dtype(kind) or is_complex_dtype(kind)]
        if texts:
            remedy = f"--drop '{','.join(texts)}'" if option == "--drop" else f"another {option}"
            raise ValueError(
                f"{self.path}: {shown(texts)} {'is' if len(texts) == 1 else 'are'} not numeric: "
                f"encode as numbers, or give {remedy}"
            )


def open_data(path: Path) -> DataFile:
    """Read a file: CSV or Parquet by its suffix, otherwise LETOR text.

    Raises
    ------
    ValueError
        If the file is a folder, is damaged or cannot be parsed.
    FileNotFoundError
        If it does not exist.

    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a file, LETOR text, CSV or Parquet")
    if not is_table(path):
        return LetorFile(path, read_letor(path))
    frame = _read_table(path)
    if not len(frame):
        raise ValueError(f"{path} has no rows")
    return TableFile(path, frame)


def is_table(path: Path) -> bool:
    """Whether the suffix is one of CSV or Parquet.

    >>> is_table(Path("train.csv.gz")), is_table(Path("train.txt"))
    (True, False)
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in (".csv", *PARQUET)


def shown(names: Sequence[str] | Mapping[str, Any]) -> str:
    """The first ten names, for a message."""
    names = list(names)
    return ", ".join(names[:10]) + (f", … ({len(names)} in all)" if len(names) > 10 else "")


def _read_table(path: Path) -> Any:
    import pandas as pd

    try:
        if path.suffix.lower() in PARQUET:
            with open(path, "rb") as file:
                return _read_parquet(file)
        if path.suffix.lower() == ".zst":
            return _read_csv(lambda **given: pd.read_csv(path, **given))
        with reading(path) as file:
            return _read_csv(lambda **given: (file.seek(0), pd.read_csv(file, **given))[1])
    except ImportError as error:
        missing = "zstandard" if path.suffix.lower() == ".zst" else "'lambdaboost[polars]'"
        raise ValueError(f"{path}: {str(error).splitlines()[0]} pip install {missing}") from None
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        what = "Parquet" if path.suffix.lower() in PARQUET else "CSV with a header"
        raise ValueError(f"{path} cannot be read as {what}: {error}") from None


def _read_parquet(file: Any) -> Any:
    """The table, in which pandas' index, such as a query, is a column."""
    import pandas as pd

    frame = pd.read_parquet(file)
    _check_names(list(map(str, frame.columns)))
    return frame if frame.index.names == [None] else frame.reset_index()


def _read_csv(read: Callable[..., Any]) -> Any:
    """The table; what pandas would mend without a word is an error."""
    import pandas as pd

    header = read(header=None, nrows=1, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    names = header.iloc[0].tolist()
    _check_names(names)
    frame = read(encoding="utf-8-sig", low_memory=False)
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError("rows have more cells than the header; name every column")
    if len(names) == 1 and (found := [letter for letter in ";\t|" if letter in names[0]]):
        raise ValueError(f"columns are separated by {found[0]!r}; separate them by commas")
    return frame


def _check_names(names: Sequence[str]) -> None:
    # pandas would rename the second.
    if twice := [name for name in dict.fromkeys(names) if name and names.count(name) > 1]:
        raise ValueError(f"it has two columns {shown(twice)}; rename one")
