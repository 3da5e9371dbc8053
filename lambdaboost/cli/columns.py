"""`Columns`: the features, label sources and dropped columns of a file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.cli.data_file import DataFile, LetorFile, open_data, shown
from lambdaboost.datasets import Collection, Queries, click_rate
from lambdaboost.datasets._checks import check_source_name
from lambdaboost.datasets._concat import row_ids
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import RELEVANCE

SOURCE = re.compile(r"(?P<name>[A-Za-z_]\w*)(=(?P<column>[^:]+))?(?P<rate>:rate)?")


@dataclass(frozen=True)
class Source:
    """A column that becomes a label source; LETOR's columns are numbered from 1."""

    name: str
    column: str
    rate: bool = False

    @classmethod
    def parse(cls, text: str) -> Source:
        """Parse ``clicks=134:rate``, ``clicks=ctr``, or ``clicks`` for the column of that name.

        >>> Source.parse("clicks=134:rate"), Source.parse("clicks")
        (Source(name='clicks', column='134', rate=True), Source(name='clicks', column='clicks', rate=False))
        """
        found = SOURCE.fullmatch(text.strip())
        if not found:
            raise ValueError(
                f"--source {text!r}: expected NAME=COLUMN or NAME=COLUMN:rate, such as clicks=134:rate"
            )
        return cls(found["name"], (found["column"] or found["name"]).strip(), found["rate"] is not None)

    def __str__(self) -> str:
        return f"{self.name}={self.column}{':rate' if self.rate else ''}"


@dataclass(frozen=True)
class Columns:
    """How to read files: label sources, dropped columns, and what the training file determines for all others.

    `query` and `label` name columns of a table; `position` is a column of any file. `features` are the names of a
    model's features; for LETOR text they follow from `n_features`, its number of columns. `sparse` says whether
    features are stored sparse.
    """

    sources: tuple[Source, ...] = ()
    dropped: tuple[str, ...] = ()
    query: str | None = None
    label: str | None = None
    n_features: int | None = None
    features: tuple[str, ...] | None = None
    sparse: bool | None = None
    position: str | None = None

    @classmethod
    def parse(
        cls,
        sources: Iterable[str] = (),
        dropped: Iterable[str] = (),
        query: str | None = None,
        label: str | None = None,
        n_features: int | None = None,
        position: str | None = None,
    ) -> Columns:
        """Parse the options ``--source``, ``--drop``, ``--query``, ``--label``, ``--features`` and ``--position``."""
        items = tuple(word.strip() for text in dropped for word in text.split(",") if word.strip())
        read = tuple(map(Source.parse, sources))
        taken = [source.column for source in read]
        taken += [] if position is None else [position]
        for column in taken:
            if taken.count(column) > 1 or column in items:
                raise ValueError(f"column {column} is given twice: a column has one use; give it once")
        return cls(read, items, query, label, n_features, position=position)

    def opened(self, path: Path) -> DataFile:
        """Open a file with its rows grouped by query."""
        return open_data(path).grouped(self.query)

    def collection(self, file: DataFile) -> Collection:
        """Features, queries and label sources of a file."""
        file = self._whole(file)
        names = self._feature_names(file)
        q = self.queries(file)
        return Collection(_stored(file.matrix(names), self.sparse), q, file.documents, names)

    def matrix(self, file: DataFile) -> Any:
        """The features, for scoring; the file needs neither queries nor labels."""
        whole = self._whole(file)
        if len(whole.names) > len(file.names):
            warnings.warn(
                f"{file.path} has {len(file.names)} features, the training data {len(whole.names)}: missing ones "
                "count as 0; if the file has other features, the scores are meaningless",
                stacklevel=2,
            )
        return _stored(whole.matrix(self._feature_names(whole)), self.sparse)

    def queries(self, file: DataFile) -> Queries:
        """Queries with their label sources, in the order of the file."""
        file = self._whole(file)
        q = file.queries(self.query, self.label)
        self._check_uses(file)
        further: dict[str, NDArray[Any]] = {}
        for source in self.sources:
            _check_known(file, f"--source {source}", source.column)
            try:
                check_source_name(source.name, q.labels.keys() | further.keys())
                values = np.asarray(file.values(source.column), dtype=np.float64)
                further[source.name] = click_rate(values, q) if source.rate else values
            except (TypeError, ValueError) as error:
                raise ValueError(f"--source {source} of {file.path}: {error}") from None
        positions = self._positions(file)
        if not further and positions is None:
            return q
        ids, sizes = row_ids(q), q.sizes
        try:
            labels = q.labels[RELEVANCE]
            return Queries(
                labels, sizes=sizes if ids is None else None, ids=ids, position=positions, **further
            )
        except (TypeError, ValueError) as error:
            raise ValueError(f"--source of {file.path}: {error}") from None

    def _positions(self, file: DataFile) -> Positions | None:
        """The positions of a file, in whose LETOR text 0 or nothing stands for a row that was not shown."""
        recorded = (
            self.features is not None
        )  # by a model, which may be trained on clicks and tested on grades
        if self.position is None or (recorded and self.position not in file.names):
            return None
        _check_known(file, f"--position {self.position}", self.position)
        values = file.values(self.position)
        if isinstance(file, LetorFile):
            values = np.where(values == 0, np.nan, values)
        try:
            return positions_of(f"column {self.position}", values)
        except (TypeError, ValueError) as error:
            raise ValueError(f"--position {self.position} of {file.path}: {error}") from None

    def feature_names(self, file: DataFile) -> tuple[str, ...]:
        """The names of the features, in the order of `matrix`."""
        return self._feature_names(self._whole(file))

    def fixed_by(self, file: DataFile, collection: Collection) -> Columns:
        """The columns for all further files, determined by the training file."""
        file = self._whole(file)
        sparse = not isinstance(collection.features, np.ndarray)
        fixed = replace(self, dropped=self._dropped(file), sparse=sparse)
        if isinstance(file, LetorFile):
            return replace(fixed, n_features=len(file.names))
        query, label = file.labelled(self.query, self.label)
        return replace(fixed, features=collection.feature_names, query=query, label=label)

    def _feature_names(self, file: DataFile) -> tuple[str, ...]:
        """The columns that are features: those of the model, else all without another use."""
        if self.features is not None:
            there = set(file.names)
            if missing := [name for name in self.features if name not in there]:
                raise ValueError(
                    f"{file.path} lacks features of the model: {shown(missing)}; add these columns"
                )
            return self.features
        for source in self.sources:
            _check_known(file, f"--source {source}", source.column)
        self._check_uses(file)
        gone = {*file.labelled(self.query, self.label), *self._dropped(file)}
        if self.position is not None:
            _check_known(file, f"--position {self.position}", self.position)
        gone |= {source.column for source in self.sources} | ({self.position} if self.position else set())
        names = tuple(name for name in file.names if name not in gone)
        if not names:
            raise ValueError(
                f"--source, --position and --drop leave no feature of {file.path}: keep at least one"
            )
        return names

    def _dropped(self, file: DataFile) -> tuple[str, ...]:
        """The columns of ``--drop``; a range skips all columns with another use, which are no features anyway."""
        used = {*file.labelled(self.query, self.label), self.position}
        used |= {source.column for source in self.sources}
        found = [name for item in self.dropped for name in _range(item, file) if name not in used]
        return tuple(dict.fromkeys(found))

    def _check_uses(self, file: DataFile) -> None:
        """Raise if the column of the queries or labels is given as a label source or to be dropped."""
        if (
            self.features is not None
        ):  # recorded by a model, whose label source may be the label of an evaluation
            return
        for column in file.labelled(self.query, self.label):
            what = f"{column} is the column of the queries or labels"
            if column in self.dropped:
                raise ValueError(f"--drop {column}: {what}, which is no feature: omit --drop {column}")
            for source in self.sources:
                if source.column == column:
                    raise ValueError(
                        f"--source {source}: {what}: give another column, or omit --source {source}"
                    )

    def _whole(self, file: DataFile) -> DataFile:
        """The file with every column of the training file."""
        if self.n_features is None:
            return file
        if not isinstance(file, LetorFile):
            raise ValueError(
                f"{file.path} is a table, but the model or --features needs LETOR text: give LETOR text"
            )
        if len(file.names) > self.n_features:
            raise ValueError(
                f"{file.path} has {len(file.names)} features, the training data only {self.n_features}: give files "
                f"of the same data, or train with --features {len(file.names)}"
            )
        return file.widened(self.n_features)


def _check_known(file: DataFile, option: str, column: str) -> None:
    if column not in file.names:
        raise ValueError(f"{option}: {file.path} has no column {column}, only {_known(file)}")


def _range(item: str, file: DataFile) -> tuple[str, ...]:
    """A column, or a range of columns, such as 134-136 or title_bm25-title_length."""
    names = file.names
    if item in names:
        return (item,)
    for at in (i for i, letter in enumerate(item) if letter == "-"):
        first, last = item[:at].strip(), item[at + 1 :].strip()
        if first in names and last in names and names.index(first) <= names.index(last):
            return names[names.index(first) : names.index(last) + 1]
    raise ValueError(
        f"--drop {item}: {file.path} has no column {item}, only {_known(file)}; "
        "give columns or ranges, such as 135,140-142"
    )


def _known(file: DataFile) -> str:
    return f"1 to {len(file.names)}" if isinstance(file, LetorFile) else shown(file.names)


def _stored(features: Any, sparse: bool | None) -> Any:
    """Features dense or sparse as in training, since XGBoost treats absent values of sparse data as missing."""
    is_dense = isinstance(features, np.ndarray)
    if sparse is None:
        sparse = not is_dense
    if not sparse:
        return features if is_dense else features.toarray()
    from scipy.sparse import csr_matrix

    features = csr_matrix(features)
    features.eliminate_zeros()
    return features
