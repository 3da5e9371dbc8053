"""`Folder`: a folder of shards as one file, which holds no rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lambdaboost._files import sha256, without_compression_suffix
from lambdaboost._words import shown
from lambdaboost.datasets.arrays import query_starts
from lambdaboost.datasets.categories import text_of_value
from lambdaboost.datasets.collection import Collection, stacked
from lambdaboost.datasets.data_file import LetorFile, open_data
from lambdaboost.datasets.document_file import DocumentFile
from lambdaboost.datasets.letor import is_letor, read_letor
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.datasets.tables import (
    Table,
    as_frame,
    check_names,
    indexed,
    is_parquet,
    is_table,
    read_csv,
    readable,
)

VALUES = 1 << 20  # of a batch of Parquet; other shards are read one at a time
# Parts of a data set, which are no shards of one part.
PARTS = ("train", "vali", "test")

Piece = LetorFile | Table


class Stamp(NamedTuple):
    """What a file has that changes when it is written."""

    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The stamp of a file as it is now."""
        found = path.stat()
        return cls(found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, eq=False)
class Folder(DocumentFile):
    """The files of a folder, of one kind and with the same columns, as one file of documents; it holds no rows.

    Attributes
    ----------
    path : Path
        The folder.
    files, stamps : tuple of Path, tuple of Stamp
        Its shards, sorted by name.
    letor : bool
        Whether they are LETOR text.
    text : tuple of str
        The columns of CSV that are no numbers.
    query : str, or None
        The column of the queries.
    width : int, or None
        The number of columns of LETOR text, if it is known.

    """

    path: Path
    files: tuple[Path, ...]
    stamps: tuple[Stamp, ...]
    letor: bool = False
    text: tuple[str | None, ...] = ()
    query: str | None = None
    width: int | None = None

    @classmethod
    def open(cls, path: Path, text: Sequence[str | None] = ()) -> Folder:
        """The shards in a folder; raises ValueError if there are none, or they differ in kind, columns or types."""
        files = shards_in(path)
        letor = not is_table(files[0])
        folder = cls(path, files, tuple(map(Stamp.of, files)), letor, tuple(text))
        folder._check_columns()
        return folder

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns; of LETOR text the numbers from 1 to that of the widest shard."""
        if self.letor:
            return tuple(map(str, range(1, (self.width or self._shape[0]) + 1)))
        return tuple(_types_of(self.files[0], self.text))

    @property
    def sparse(self) -> bool:
        """Whether features are stored sparse: those of LETOR text whose shards all are."""
        return self.letor and self._shape[1]

    @cached_property
    def _shape(self) -> tuple[int, bool]:
        """The number of columns of LETOR text, and whether all shards are sparse."""
        found = [_shape_of(piece.collection.features) for piece in self._files_of(())]
        return max(width for width, _ in found), all(sparse for _, sparse in found)

    def grouped(self, query: str) -> Folder:
        """The same shards, whose queries are in this column; rows stay in the order of the files."""
        return replace(self, query=query)

    def widened(self, n: int) -> Folder:
        """The same LETOR text with columns of zeros up to column `n`."""
        return replace(self, width=n)

    def row_name(self, row: int) -> str:
        """The words for a row of all shards, which are read for it."""
        for piece in self.pieces(() if self.letor else self.names[:1]):
            if row < len(piece):
                return piece.row_name(row)
            row -= len(piece)
        return f"row {row} of {self.path}"

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The rows in order, in batches of bounded size: Parquet by so many rows, other files one by one.

        `columns` are those that are read of tables, None for all.

        Raises
        ------
        ValueError
            If a shard changed since the folder was opened, or no shard has a row.

        """
        empty = True
        for piece in self._files_of(columns):
            empty = False
            narrow = self.letor and len(piece.names) < len(self.names)
            yield piece.widened(len(self.names)) if narrow else piece
        if empty:
            raise ValueError(f"{self.path} has no rows: its shards are empty")

    def beside(self, columns: Sequence[str]) -> Piece:
        """All rows as one file without any other columns; raises ValueError if a query is split."""
        pieces = self.pieces(columns)
        if self.letor:
            return self._letor_beside([int(name) - 1 for name in columns], pieces)
        import pandas as pd

        frame = pd.concat([piece.frame.to_native() for piece in pieces], ignore_index=True)
        table = Table(
            as_frame(str(self.path), frame), self.path, None, not is_parquet(self.files[0]), self.row_name
        )
        if self.query in columns:
            query_starts(f"column {shown(self.query)}", table.ids(str(self.query)), self.row_name)
        return table

    def categories(self, columns: Sequence[str], named: Iterable[str] = ()) -> dict[str, tuple[Any, ...]]:
        """The values of the columns of a categorical type, and of those that are `named`; those of all shards."""
        own = [name for name, kind in _types_of(self.files[0], self.text).items() if "category" in kind]
        wanted, found = {*own, *named}, dict[str, tuple[Any, ...]]()
        for piece in self.pieces([name for name in self.names if name in wanted]) if wanted else ():
            for name, values in piece.categories(columns, named).items():
                known = found.setdefault(name, values)
                if known != values:
                    every = dict.fromkeys([*known, *values])  # in the order of one file, where text is sorted
                    found[name] = tuple(sorted(every, key=text_of_value) if name in named else every)
        return {name: found[name] for name in columns if name in found}

    def _files_of(self, columns: Sequence[str] | None) -> Iterator[Any]:
        for file, stamp in zip(self.files, self.stamps, strict=True):
            _check_unchanged(file, stamp)
            yield from _pieces_of(file, self.text, columns)
            _check_unchanged(file, stamp)

    def _letor_beside(self, columns: list[int], pieces: Iterator[Any]) -> LetorFile:
        from scipy import sparse

        features, queries, documents = [], [], []
        for piece in pieces:
            wide = piece.collection
            kept = sparse.csr_matrix(wide.features[:, columns])
            indices = np.asarray(columns, dtype=kept.indices.dtype)[kept.indices]
            features.append(sparse.csr_matrix((kept.data, indices, kept.indptr), wide.features.shape))
            queries.append(wide.queries)
            documents.append(wide.documents)
        ids = None
        if all(q.ids is not None for q in queries):
            ids = np.concatenate([np.repeat(q.ids, q.sizes) for q in queries])
            query_starts("qid", ids, self.row_name)
        sizes = None if ids is not None else np.concatenate([q.sizes for q in queries])
        q = Queries(np.concatenate([q.labels[RELEVANCE] for q in queries]), sizes, ids=ids)
        names = None if any(part is None for part in documents) else np.concatenate(documents)
        return LetorFile(self.path, Collection(stacked(features), q, names), self.row_name)

    def _check_columns(self) -> None:
        if self.letor:
            return
        first = self.files[0]
        expected = _types_of(first, self.text)
        for file in self.files[1:]:
            found = _types_of(file, self.text)
            for name in {**expected, **found}:
                here, there = (of.get(name, "missing") for of in (found, expected))
                if here != there:
                    raise ValueError(
                        f"column {shown(name)} is {here} in {file}, and {there} in {first}: write all shards with the "
                        "same columns and types"
                    )


def opened(path: Path, text: Sequence[str | None] = ()) -> Piece | Folder:
    """A file, as `open_data` reads it, or a folder of shards."""
    return Folder.open(path, text) if path.is_dir() else open_data(path, text)


def digest(path: Path) -> str:
    """SHA-256 of a file, or of those of the shards in a folder."""
    if not path.is_dir():
        return sha256(path)
    return hashlib.sha256("".join(map(sha256, shards_in(path))).encode()).hexdigest()


def shards_in(folder: Path) -> tuple[Path, ...]:
    """The data files of a folder, sorted by name.

    Left out are hidden files, such as Spark's ``_SUCCESS``, checksums, and sizes of queries beside LETOR text.

    Raises
    ------
    ValueError
        If there are none, they are of several kinds or of several parts of a data set, or one is no data.

    """
    found = sorted(file for file in folder.iterdir() if not file.name.startswith((".", "_")))
    sizes = {f"{without_compression_suffix(file).name}.query" for file in found}
    files = tuple(
        file for file in found if file.suffix != ".crc" and without_compression_suffix(file).name not in sizes
    )
    if not files:
        raise ValueError(f"{folder} has no files: give a file, or a folder of Parquet, CSV or LETOR text")
    kinds = {_kind(file): file for file in reversed(files)}
    if len(kinds) > 1:
        held = " and ".join(f"{kind} ({file.name})" for kind, file in sorted(kinds.items()))
        raise ValueError(f"{folder} is a folder of {held}: give a file, or a folder of shards of one kind")
    if "folders" in kinds:
        raise ValueError(f"{folder} is a folder of folders: give a file, or a folder of shards")
    parts = {part: file.name for file in files for part in PARTS if file.name.lower().startswith(part)}
    if len(parts) > 1:
        raise ValueError(
            f"{folder} holds {' and '.join(parts.values())}, which are no shards of one part: give one of them"
        )
    return files


def _kind(file: Path) -> str:
    if file.is_dir():
        return "folders"
    if is_table(file):
        return "Parquet" if is_parquet(file) else "CSV"
    if not is_letor(file):
        raise ValueError(
            f"{file} is neither Parquet, CSV nor LETOR text: move it out of the folder, or call it _{file.name}, which "
            "is no shard"
        )
    return "LETOR text"


def _types_of(file: Path, text: Sequence[str | None]) -> dict[str, str]:
    """The columns of a table, and their types, which only Parquet has."""
    with readable(file):
        if not is_parquet(file):
            return dict.fromkeys(map(str, read_csv(file, text, nrows=0).columns), "there")
        import pyarrow.parquet as pq

        schema = pq.read_schema(file)
        check_names(schema.names)
        # As a frame, for the index of pandas is a column only where it has a name.
        names = indexed(schema.empty_table().to_pandas()).columns
        return {str(name): _type(schema.field(str(name)).type) for name in names}


def _type(kind: Any) -> str:
    """A type of Arrow; of a category that of its values, since its codes are as wide as a shard needs."""
    return f"category of {kind.value_type}" if hasattr(kind, "index_type") else str(kind)


def _pieces_of(file: Path, text: Sequence[str | None], columns: Sequence[str] | None) -> Iterator[Any]:
    """The rows of a shard in order."""
    if not is_table(file):
        yield LetorFile(file, read_letor(file))
    elif not is_parquet(file):
        with readable(file):
            frame = read_csv(file, text, usecols=columns if columns is None else set(columns).__contains__)
        if len(frame):
            yield Table.of_file(file, frame)
    else:
        first = 0
        for frame in _frames_of(file, columns):
            yield Table.of_file(file, frame, first)
            first += len(frame)


def _frames_of(file: Path, columns: Sequence[str] | None) -> Iterator[Any]:
    with readable(file):
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(file) as opened_file:
            width = opened_file.metadata.num_columns if columns is None else len(columns)
            rows = max(1, VALUES // max(1, width))
            for batch in opened_file.iter_batches(rows, columns=None if columns is None else list(columns)):
                if batch.num_rows:
                    yield indexed(pa.Table.from_batches([batch]).to_pandas())


def _check_unchanged(file: Path, stamp: Stamp) -> None:
    if not file.exists() or Stamp.of(file) != stamp:
        raise ValueError(
            f"{file} changed while it was read: run it again, once nothing writes to {file.parent}"
        )


def _shape_of(features: Any) -> tuple[int, bool]:
    return features.shape[1], not isinstance(features, np.ndarray)
