"""`open_data`: a file of documents, LETOR text or a table, with its columns by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection, Queries, from_frame, read_letor
from lambdaboost.datasets._files import reading

QUERY, LABEL = "qid", "label"  # the columns of a table without --query and --label
PARQUET = (".parquet", ".pq")
COMPRESSED = (".gz", ".xz", ".bz2", ".zst")


class DataFile(ABC):
    """A file that has been read, whose columns have names; those of LETOR text are numbered from 1."""

    path: Path

    def grouped(self, query: str | None) -> DataFile:
        """The same documents, those of a query one below the other, which LETOR text has to have anyway."""
        return self

    def as_grouped(self, values: NDArray[Any]) -> NDArray[Any]:
        """What stands in the order of the file, in the order of this."""
        return values

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns, in their order."""

    @abstractmethod
    def labelled(self, query: str | None, label: str | None) -> tuple[str, ...]:
        """The columns that hold queries and labels, which are no features; none in LETOR text."""

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
        """Names of the documents, where the file has any."""
        return None


@dataclass(frozen=True, eq=False)
class LetorFile(DataFile):
    """LETOR text."""

    path: Path
    collection: Collection

    @cached_property
    def names(self) -> tuple[str, ...]:
        """``1`` to the last."""
        return tuple(map(str, range(1, self.collection.n_features + 1)))

    def __len__(self) -> int:
        """Lines."""
        return self.collection.queries.n_documents

    @property
    def documents(self) -> NDArray[np.str_] | None:
        """Of the comments."""
        return self.collection.documents

    def labelled(self, query: str | None, label: str | None) -> tuple[str, ...]:
        """None: grade and qid stand before the features."""
        if query is not None or label is not None:
            option = "--query" if query is not None else "--label"
            raise ValueError(f"{option} is for tables: {self.path} is read as LETOR text, which has its own")
        return ()

    def queries(self, query: str | None, label: str | None) -> Queries:
        """As the text says."""
        return self.collection.queries

    def matrix(self, names: Sequence[str]) -> Any:
        """Dense or CSR, as `read_letor` gives it."""
        if len(names) == len(self.names):
            return self.collection.features
        return self.collection.features[:, [int(name) - 1 for name in names]]

    def values(self, name: str) -> NDArray[Any]:
        """As float32."""
        column = self.collection.features[:, [int(name) - 1]]
        return np.asarray(column if isinstance(column, np.ndarray) else column.toarray()).ravel()

    def widened(self, n: int) -> LetorFile:
        """The same text with zeros up to column `n`, which LETOR text need not write."""
        X = self.collection.features
        if isinstance(X, np.ndarray):
            X = np.pad(X, ((0, 0), (0, n - X.shape[1])))
        else:
            X = X.copy()
            X.resize((X.shape[0], n))
        return LetorFile(self.path, replace(self.collection, features=X))


@dataclass(frozen=True, eq=False)
class TableFile(DataFile):
    """CSV or Parquet, as a pandas frame; `order` holds the row in the file of each row of a grouped one."""

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
            raise ValueError(f"{self.path}: column {name} is empty in row {row}: every document has a query")
        order = np.argsort(self.frame[name].factorize()[0], kind="stable")
        if (order == np.arange(order.size)).all():
            return self
        return TableFile(self.path, self.frame.iloc[order], order)

    def as_grouped(self, values: NDArray[Any]) -> NDArray[Any]:
        """By the rows of the file."""
        return values if self.order is None else values[self.order]

    def __len__(self) -> int:
        """Rows."""
        return len(self.frame)

    @property
    def names(self) -> tuple[str, ...]:
        """The header."""
        return tuple(map(str, self.frame.columns))

    def labelled(self, query: str | None, label: str | None) -> tuple[str, ...]:
        """Those given, else `qid` and `label`, as far as they are there."""
        chosen = self._chosen("--query", query, QUERY), self._chosen("--label", label, LABEL)
        return tuple(name for name in chosen if name is not None)

    def queries(self, query: str | None, label: str | None) -> Queries:
        """Of the two columns; those of a query must be adjacent, as `grouped` has them."""
        of_query, of_label = self._chosen("--query", query, QUERY), self._chosen("--label", label, LABEL)
        for option, name, what in (("--query", of_query, "query"), ("--label", of_label, "grade")):
            if name is None:
                raise ValueError(
                    f"{self.path} is a table: say which column holds the {what} of each row with {option}; "
                    f"it has {shown(self.names)}"
                )
        assert of_query is not None and of_label is not None
        self._check_numbers([of_label], "--label")
        few = self.frame[[of_query, of_label]].assign(**{"\N{NULL}": 0.0})  # from_frame asks for a feature
        try:
            return from_frame(few, query=of_query, relevance=of_label).queries
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.path}: {error}") from None

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Dense, NaN for gaps."""
        self._check_numbers(names, "--drop")
        return self.frame[list(names)].to_numpy(dtype=np.float64, na_value=np.nan)

    def values(self, name: str) -> NDArray[Any]:
        """As pandas gives it."""
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
                f"{self.path}: {shown(texts)} {'holds' if len(texts) == 1 else 'hold'} no numbers: "
                f"encode as numbers, or give {remedy}"
            )


def open_data(path: Path) -> DataFile:
    """Read a file: CSV or Parquet where its name ends so, LETOR text otherwise.

    Raises
    ------
    ValueError
        Where the file is a folder, is damaged, or does not read.
    FileNotFoundError
        Where it is not there.

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
    """Whether the name is one of CSV or Parquet.

    >>> is_table(Path("train.csv.gz")), is_table(Path("train.txt"))
    (True, False)
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in (".csv", *PARQUET)


def shown(names: Sequence[str] | Mapping[str, Any]) -> str:
    """Names for a message, the first ten."""
    names = list(names)
    return ", ".join(names[:10]) + (f", … ({len(names)} in all)" if len(names) > 10 else "")


def _read_table(path: Path) -> Any:
    import pandas as pd

    try:
        if path.suffix.lower() in PARQUET:
            with open(path, "rb") as file:
                return pd.read_parquet(file)
        if path.suffix.lower() == ".zst":
            return pd.read_csv(path, encoding="utf-8-sig", low_memory=False)
        with reading(path) as file:
            return pd.read_csv(file, encoding="utf-8-sig", low_memory=False)
    except ImportError as error:
        missing = "zstandard" if path.suffix.lower() == ".zst" else "'lambdaboost[polars]'"
        raise ValueError(f"{path}: {str(error).splitlines()[0]} pip install {missing}") from None
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        what = "Parquet" if path.suffix.lower() in PARQUET else "CSV with a header"
        raise ValueError(f"{path} does not read as {what}: {error}") from None
