"""`Columns`: which columns of a LETOR file are features, which are label sources, and which are neither."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.datasets import Collection, click_rate, read_letor

SOURCE = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<column>[0-9]+)(?P<rate>:rate)?")


@dataclass(frozen=True)
class Source:
    """A feature column, counted from 1 as LETOR does, that becomes a label source."""

    name: str
    column: int
    rate: bool = False

    @classmethod
    def parse(cls, text: str) -> Source:
        """Read ``clicks=134`` or ``clicks=134:rate``.

        >>> Source.parse("clicks=134:rate")
        Source(name='clicks', column=134, rate=True)
        """
        found = SOURCE.fullmatch(text.strip())
        if not found:
            raise ValueError(
                f"--source {text!r}: expected NAME=COLUMN or NAME=COLUMN:rate, such as clicks=134:rate"
            )
        return cls(found["name"], int(found["column"]), found["rate"] is not None)

    def __str__(self) -> str:
        return f"{self.name}={self.column}{':rate' if self.rate else ''}"


@dataclass(frozen=True)
class Columns:
    """How files are read: label sources, dropped columns, and what the training file fixed for all others.

    `n_features` counts the columns of the file; `sparse` says how the features are kept.
    """

    sources: tuple[Source, ...] = ()
    dropped: tuple[int, ...] = ()
    n_features: int | None = None
    sparse: bool | None = None

    @classmethod
    def parse(cls, sources: Iterable[str], dropped: Iterable[str], n_features: int | None = None) -> Columns:
        """Read the options ``--source``, ``--drop`` and ``--features``."""
        numbers = [word.strip() for words in dropped for word in words.split(",")]
        for word in numbers:
            if not word.isdecimal():
                raise ValueError(
                    f"--drop {word!r}: expected column numbers counted from 1, such as 135 or 135,136"
                )
        columns = cls(tuple(map(Source.parse, sources)), tuple(sorted(set(map(int, numbers)))), n_features)
        taken = [source.column for source in columns.sources]
        for column in taken:
            if taken.count(column) > 1 or column in columns.dropped:
                raise ValueError(f"column {column} is asked for twice: a column has one use; name it once")
        return columns

    def read(self, path: Path, measured: bool = True) -> Collection:
        """A file's features and queries; without sources where it is not `measured`, only scored."""
        collection = self._checked_width(path, read_letor(path))
        if self.n_features and collection.n_features < self.n_features:
            collection = read_letor(path, n_features=self.n_features)
        # Names, since indices would move as columns leave.
        names = tuple(str(column) for column in range(1, collection.n_features + 1))
        collection = replace(collection, feature_names=names)
        self._check_known(path, collection)
        for source in self.sources if measured else ():
            collection = _with_source(path, collection, source)
        gone = [*self.dropped, *(() if measured else (source.column for source in self.sources))]
        collection = collection.without_features(map(str, gone))
        return replace(collection, features=_stored(collection.features, self.sparse))

    def fixed_by(self, collection: Collection) -> Columns:
        """The same columns for every further file, once the training file has been read."""
        used = len(self.sources) + len(self.dropped)
        return replace(
            self,
            n_features=collection.n_features + used,
            sparse=not isinstance(collection.features, np.ndarray),
        )

    def _checked_width(self, path: Path, collection: Collection) -> Collection:
        if self.n_features and collection.n_features > self.n_features:
            raise ValueError(
                f"{path} has {collection.n_features} features, more than the {self.n_features} of training: give files "
                f"of the same data, or train with --features {collection.n_features}"
            )
        return collection

    def _check_known(self, path: Path, collection: Collection) -> None:
        options = [(f"--source {source}", source.column) for source in self.sources]
        options += [(f"--drop {column}", column) for column in self.dropped]
        for option, column in options:
            if not 1 <= column <= collection.n_features:
                raise ValueError(
                    f"{option}: {path} has no column {column}, only 1 to {collection.n_features}"
                )
        if len(options) >= collection.n_features:
            raise ValueError(f"--source and --drop leave no feature of {path}: keep at least one")


def _with_source(path: Path, collection: Collection, source: Source) -> Collection:
    try:
        return collection.source_from_feature(
            source.name, str(source.column), transform=click_rate if source.rate else None
        )
    except ValueError as error:
        raise ValueError(f"--source {source} of {path}: {error}") from None


def _stored(features: Any, sparse: bool | None) -> Any:
    """Features dense or sparse as in training: to XGBoost a value that is not stored is missing, and not 0."""
    is_dense = isinstance(features, np.ndarray)
    if sparse is None:
        sparse = not is_dense
    if not sparse:
        return features if is_dense else features.toarray()
    from scipy.sparse import csr_matrix

    features = csr_matrix(features)
    features.eliminate_zeros()
    return features
