"""`Columns`: the features, label sources and dropped columns of a file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import listed, plain, shown
from lambdaboost.datasets import Collection, Queries, click_rate
from lambdaboost.datasets.categories import Categories
from lambdaboost.datasets.data_file import LetorFile, open_data
from lambdaboost.datasets.document_file import DocumentFile

QUERY, LABEL = "qid", "label"  # default columns of a table
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
                f"--source {shown(text)}: expected NAME=COLUMN or NAME=COLUMN:rate, such as clicks=134:rate"
            )
        return cls(found["name"], (found["column"] or found["name"]).strip(), found["rate"] is not None)

    def __str__(self) -> str:
        return f"{self.name}={self.column}{':rate' if self.rate else ''}"


@dataclass(frozen=True)
class Columns:
    """How to read files: label sources, dropped columns, and what the training file determines for all others.

    `query`, `label`, `document` and `categorical` name columns of a table; `position` and `weight` are columns of any
    file. `features` are the names of a model's features, and `categories` the values of its categorical ones; for LETOR
    text they follow from `n_features`, its number of columns. `sparse` says whether features are stored sparse.
    """

    sources: tuple[Source, ...] = ()
    dropped: tuple[str, ...] = ()
    query: str | None = None
    label: str | None = None
    n_features: int | None = None
    features: tuple[str, ...] | None = None
    sparse: bool | None = None
    position: str | None = None
    weight: str | None = None
    document: str | None = None
    categorical: tuple[str, ...] = ()
    categories: Categories = field(default_factory=dict)
    unseen: str | None = None  # "error" or "missing"; None is that of the model

    @classmethod
    def parse(
        cls,
        sources: Iterable[str] = (),
        dropped: Iterable[str] = (),
        query: str | None = None,
        label: str | None = None,
        categorical: Iterable[str] = (),
        **further: Any,
    ) -> Columns:
        """Parse the options ``--source``, ``--drop`` and ``--categorical``; `further` are fields."""
        items, kinds = (
            tuple(word.strip() for text in texts for word in text.split(",") if word.strip())
            for texts in (dropped, categorical)
        )
        columns = cls(tuple(map(Source.parse, sources)), items, query, label, categorical=kinds, **further)
        taken = [*columns._beside.values(), *kinds]
        for column in taken:
            if taken.count(column) > 1 or column in items:
                raise ValueError(f"column {plain(column)} is given twice: a column has one use; give it once")
        return columns

    @classmethod
    def recorded(cls, about: Mapping[str, Any]) -> Columns:
        """The columns in the description of a model, as `record` wrote them."""
        read: dict[str, Any] = about.get("columns", {}) | {"categories": about.get("categories", {})}
        known = {one.name for one in fields(cls)}  # a later version may record more
        read = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in read.items()
            if name in known
        }
        return cls(tuple(Source(**source) for source in read.pop("sources", ())), **read)

    def record(self) -> dict[str, Any]:
        """The entries of the description of a model."""
        columns = asdict(self)
        categories, _ = columns.pop("categories"), columns.pop("categorical")
        return {"columns": columns} | ({"categories": categories} if categories else {})

    @property
    def text(self) -> tuple[str | None, ...]:
        """The columns that are text, also where they look like numbers."""
        return self.query or QUERY, self.position, self.document, *self.categorical, *self.categories

    @property
    def _beside(self) -> dict[str, str]:
        """The columns of the options that take them from the features, by option."""
        named = {f"--{name} ": getattr(self, name) for name in ("position", "weight", "document")}
        found = {f"{option}{plain(column)}": column for option, column in named.items() if column}
        return {f"--source {plain(source)}": source.column for source in self.sources} | found

    def opened(self, path: Path, text: Sequence[str | None] = ()) -> DocumentFile:
        """Open a file with its rows grouped by query; further columns may be `text`."""
        file: DocumentFile = open_data(path, [*self.text, *text])
        query, _ = self._labels(file)
        return file if query is None else file.grouped(query)

    def read(self, path: str) -> Collection:
        """Features, queries and label sources of the file at a path."""
        return self.collection(self.opened(Path(path)))

    def collection(self, file: DocumentFile) -> Collection:
        """Features, queries and label sources of a file."""
        file = self._whole(file)
        names = self.feature_names(file)
        q, categories = self.queries(file), self._categories(file, names)
        features = _stored(_matrix(file, names, categories, self.unseen), self.sparse)
        return Collection(features, q, self.documents(file), names, categories)

    def documents(self, file: Any) -> NDArray[np.str_] | None:
        """The name of each document, None without."""
        if file.letor:
            return file.collection.documents
        return None if self.document is None else file.names_of(self.document)

    def matrix(self, file: DocumentFile) -> Any:
        """The features, for scoring; the file needs neither queries nor labels."""
        whole = self._whole(file)
        if len(whole.names) > len(file.names):
            warnings.warn(
                f"{file.path} has {len(file.names)} features, the training data {len(whole.names)}: missing ones "
                "count as 0; if the file has other features, the scores are meaningless",
                stacklevel=2,
            )
        return _stored(_matrix(whole, self.feature_names(whole), self.categories, self.unseen), self.sparse)

    def queries(self, file: Any) -> Queries:
        """Queries with their label sources, in the order of the file."""
        file = self._whole(file)
        labels = self._labels_needed(file)
        recorded = self.features is not None  # a model's source may be the label of an evaluation
        if not recorded:
            self._uses(file)
        q = _graded(file, labels)
        for source in self.sources:
            option = f"--source {plain(source)}"
            file.check(source.column, option)
            with naming_option(f"{option} of {file.path}"), file.naming_rows():
                values = file.numbers(source.column, "give another column")
                q = q.with_source(source.name, click_rate(values, q) if source.rate else values)
        # A model that records positions and weights may be trained on clicks and tested on grades.
        for name, column in (("position", self.position), ("weight", self.weight)):
            if column is None or (recorded and column not in file.names):
                continue
            option = f"--{name} {plain(column)}"
            file.check(column, option)
            with naming_option(f"{option} of {file.path}"), file.naming_rows():
                if name == "position":
                    q = q.with_positions(file.positions(column))
                else:
                    q = q.with_weight(file.numbers(column, "give another column"))
        return q

    def feature_names(self, file: DocumentFile) -> tuple[str, ...]:
        """The columns that are features, in the order of `matrix`: those of the model, else all without another use."""
        file = self._whole(file)
        if self.features is not None:
            there = set(file.names)
            if missing := [name for name in self.features if name not in there]:
                raise ValueError(
                    f"{file.path} lacks features of the training data: {listed(missing)}; add these columns"
                )
            return self.features
        gone = {*self._uses(file), *self._dropped(file)}
        names = tuple(name for name in file.names if name not in gone)
        if not names:
            raise ValueError(
                f"--source, --position and --drop leave no feature of {file.path}: keep at least one"
            )
        return names

    def _categories(self, file: DocumentFile, names: tuple[str, ...]) -> Categories:
        """The values of the categorical ones of the features: those of the model, else those of the file."""
        if self.features is not None:
            return self.categories
        if file.letor:
            for option, given in (("--categorical", self.categorical), ("--document", self.document)):
                if given:
                    raise ValueError(f"{option} is for tables, but {file.path} is LETOR text: omit {option}")
            return {}
        named = [name for item in self.categorical for name in _range(item, file, "--categorical")]
        if wrong := [name for name in named if name not in names]:
            raise ValueError(f"--categorical {plain(wrong[0])}: it is no feature; omit it")
        return file.categories(names, named)

    def fixed_by(self, file: DocumentFile, collection: Collection) -> Columns:
        """The columns for all further files, determined by the training file."""
        sparse, whole = not isinstance(collection.features, np.ndarray), self._whole(file)
        categories = collection.categories
        fixed = replace(
            self, dropped=self._dropped(whole), sparse=sparse, categorical=(), categories=categories
        )
        if whole.letor:
            return replace(fixed, n_features=len(whole.names))
        query, label = self._labels(whole)
        return replace(fixed, features=collection.feature_names, query=query, label=label)

    def _labels(self, file: DocumentFile) -> tuple[str | None, str | None]:
        """The columns of queries and labels of a table: those given, else `qid` and `label` where they are there."""
        given = (("--query", self.query, QUERY), ("--label", self.label, LABEL))
        options = {option: name for option, name, _ in given if name is not None}
        if file.letor:
            if options:
                option = next(iter(options))
                raise ValueError(
                    f"{option} is for tables, but {file.path} is LETOR text, which has its own: omit {option}"
                )
            return None, None
        for option, name in options.items():
            file.check(name, f"{option} {shown(name)}")
        query, label = (name or (default if default in file.names else None) for _, name, default in given)
        return query, label

    def _labels_needed(self, file: DocumentFile) -> tuple[str, ...]:
        """The columns of queries and grades of a table; raises ValueError without them."""
        query, label = self._labels(file)
        if file.letor:
            return ()
        if query is None or label is None:
            option, what = ("--query", "query") if query is None else ("--label", "grade")
            raise ValueError(
                f"{file.path} is a table: give the column with the {what} of each row as {option}; "
                f"it has {listed(file.names)}"
            )
        if query == label:
            raise ValueError(
                f"{file.path}: {shown(query)} is given as --query and as --label: give two columns"
            )
        return query, label

    def _uses(self, file: DocumentFile) -> tuple[str, ...]:
        """The columns of queries, labels, sources and positions; raises if one does not exist or has two uses."""
        labels = [column for column in self._labels(file) if column is not None]
        for column in labels:
            what = f"{plain(column)} is the column of the queries or labels"
            if column in self.dropped:
                raise ValueError(
                    f"--drop {plain(column)}: {what}, which is no feature: omit --drop {plain(column)}"
                )
            if source := next((source for source in self.sources if source.column == column), None):
                raise ValueError(
                    f"--source {plain(source)}: {what}: give another column, or omit --source {plain(source)}"
                )
        for option, column in self._beside.items():
            file.check(column, option)
        return (*labels, *self._beside.values())

    def _dropped(self, file: DocumentFile) -> tuple[str, ...]:
        """The columns of ``--drop``; a range skips all columns with another use, which are no features anyway."""
        used = {*self._labels(file), *self._beside.values()}
        found = [name for item in self.dropped for name in _range(item, file) if name not in used]
        return tuple(dict.fromkeys(found))

    def _whole(self, file: DocumentFile) -> DocumentFile:
        """The file with every column of the training file."""
        if self.n_features is None or (file.letor and len(file.names) == self.n_features):
            return file
        if not file.letor:
            raise ValueError(
                f"{file.path} is a table, but the model or --features needs LETOR text: give LETOR text"
            )
        if len(file.names) > self.n_features:
            raise ValueError(
                f"{file.path} has {len(file.names)} features, the training data only {self.n_features}: give files "
                f"of the same data, or train with --features {len(file.names)}"
            )
        return file.widened(self.n_features)


def _graded(file: Any, labels: tuple[str, ...]) -> Queries:
    """Queries and grades; the rows of a query must be adjacent, as after `opened`."""
    if isinstance(file, LetorFile):
        return file.collection.queries
    query, label = labels
    return file.queries(query, label, otherwise="give another --label")


def _matrix(file: Any, names: tuple[str, ...], categories: Categories, unseen: str | None) -> Any:
    """The features of these columns, in a table NaN where they are missing."""
    if isinstance(file, LetorFile):
        return file.matrix(names)
    try:
        matrix = file.matrix(names, categories=categories, unseen=unseen or "error")
        return matrix.astype(np.float64, copy=False)
    except ValueError:
        if not (texts := file.not_numeric(name for name in names if name not in categories)):
            raise
        raise ValueError(
            f"{file.path}: {listed(texts)} {'is' if len(texts) == 1 else 'are'} not numeric: encode as numbers, or "
            f"give --drop {shown(','.join(texts))} or --categorical {shown(','.join(texts))}"
        ) from None


@contextmanager
def naming_option(option: str) -> Iterator[None]:
    """Put an option before an error about what it was given, which is then a ValueError."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{option}: {error}") from None


def _range(item: str, file: DocumentFile, option: str = "--drop") -> tuple[str, ...]:
    """A column, or a range of columns, such as 134-136 or title_bm25-title_length."""
    names = file.names
    if item in names:
        return (item,)
    for at in (i for i, letter in enumerate(item) if letter == "-"):
        first, last = item[:at].strip(), item[at + 1 :].strip()
        if first in names and last in names and names.index(first) <= names.index(last):
            return names[names.index(first) : names.index(last) + 1]
    file.check(item, f"{option} {plain(item)}")
    return ()


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
