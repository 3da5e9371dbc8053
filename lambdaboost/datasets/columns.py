"""`Columns`: which columns of a table hold the queries, labels and features; every table and file is read by it.

    columns = Columns(query="srch_id", label="grade", sources={"clicks": "ctr"}, position="rank")
    train = columns.read(frame)                   # a Collection; also of a path: CSV, Parquet or LETOR text
    fitted = columns.recorded(train)              # with the features and categories of the training data
    valid = fitted.read("valid.csv")              # the same features in the same order, the same codes
    X = fitted.features_in(other)                    # to predict: needs neither queries nor labels; rows stay in order
    Columns.of_record(fitted.record())           # as a model file keeps it

**Order.** The rows of a query may be apart: they come together in the order of the table, the queries in that of their
first rows. `Collection.rows` then says which row each document was. Predictions are in the order of the table.

**Missing values** are nulls and NaN; in CSV empty fields and, in a column of numbers, words such as NA. A missing
feature is NaN, a missing label says nothing of the document, a row without a position was not shown, a document has no
name; a missing query or weight is an error.

**Errors** begin with the argument that named a column, or say the column and the row: counted from 0 in a table, from 1
below the header in a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_new_source, refuse_labels
from lambdaboost._warn import warn
from lambdaboost._words import listed, quote
from lambdaboost.datasets.arrays import (
    factorize_in_order,
    feature_array,
    labels_of,
    query_ids,
    sizes_of,
    weights_of,
)
from lambdaboost.datasets.categories import Categories, encode, find_categories
from lambdaboost.datasets.collection import Collection, click_rate
from lambdaboost.datasets.letor import read_letor
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.datasets.tables import ColumnTypeError, Table, as_frame, grades_of, is_table, sources_by_name

QUERY, LABEL = "qid", "label"  # the names in LETOR text, and the command line's defaults
DOCUMENT = "document"  # the names of its documents, if it has comments

# How the column of each role is read from a table, and how an array in its place is.
READERS: dict[str, tuple[Callable[[Table, Any], Any], Callable[[str, Any], Any]]] = {
    "query": (Table.ids, query_ids),
    "label": (Table.labels, lambda _, y: grades_of(y)),
    "sources": (Table.labels, labels_of),
    "position": (Table.positions, positions_of),
    "weight": (Table.weights, weights_of),
    "document": (Table.documents, lambda _, names: names),
}


class ReadQueries(NamedTuple):
    """Queries with their labels, the names of the documents and, as of `Collection`, the row that each was."""

    queries: Queries
    documents: NDArray[np.str_] | None
    rows: NDArray[np.int64] | None


@dataclass(frozen=True)
class Columns:
    """Which columns hold what; LETOR text has the columns 1, 2, …, label, qid and, if it names documents, document.

    Parameters
    ----------
    query : str
        The query of each row: whole numbers, strings, …
    label : str, optional
        The grades; None where they are given apart from the table.
    sources : list of str, or dict of str to str
        The columns of further label sources, or the column of each source by name.
    position, weight, document : str, optional
        The position and weight of each row, as of `Queries`, and its name.
    categorical : list of str
        Features of text or whole numbers that become categories, besides those that have a categorical type.
    features : list of str, optional
        The features, in order; by default all other columns.
    drop : list of str
        Columns to leave out.
    rates : list of str
        The sources that hold counts of clicks, which become rates by `click_rate`.
    unseen : "error" or "missing", optional
        What a category is that training did not have: by default an error; ``"missing"`` warns once, with counts.
    categories : dict of str to sequence, optional
        The values of the categorical features in training; None before.

    Raises
    ------
    TypeError, ValueError
        If a name is not a string or is reserved, or a column has two uses.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"q": [7, 8, 7], "bm25": [0.5, 0.1, 0.3], "y": [1, 0, 2], "ctr": [0.0, 1.0, 0.0]})
    >>> columns = Columns("q", "y", sources={"clicks": "ctr"})
    >>> data = columns.read(frame)
    >>> data.features.ravel(), data.rows, data.queries
    (array([0.5, 0.3, 0.1]), array([0, 2, 1]), Queries(3 documents in 2 queries; relevance, clicks))
    >>> columns.recorded(data).features
    ('bm25',)

    """

    query: str = QUERY
    label: str | None = None
    sources: Any = field(default_factory=dict)
    position: str | None = None
    weight: str | None = None
    document: str | None = None
    categorical: Sequence[str] = ()
    features: Sequence[Any] | None = None
    drop: Sequence[str] = ()
    rates: Sequence[str] = ()
    unseen: str | None = None
    categories: Categories | None = None

    def __post_init__(self) -> None:
        if self.query is None:
            raise TypeError("query is None: give the name of the column that holds the queries")
        for name in ("query", "label", "position", "weight", "document"):
            if not isinstance(column := getattr(self, name), str | None):
                raise TypeError(f"{name} is {column!r}: give the name of a column")
        for name in ("sources", "categorical", "features", "drop", "rates"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Iterable | None):
                such_as = given if isinstance(given, str) else "clicks"
                raise TypeError(f"{name} is {given!r}: give a list of columns, such as [{such_as!r}]")
            kept: Any = None if given is None and name == "features" else tuple(given or ())
            if name == "sources":
                kept = dict(given) if isinstance(given, Mapping) else dict(zip(kept, kept, strict=True))
            object.__setattr__(self, name, kept)
        for name, column in self.sources.items():
            check_new_source(name)
            if not isinstance(column, str):
                raise TypeError(f"sources[{name!r}] is {column!r}: give the name of a column")
        if self.unseen not in ("error", "missing", None):
            raise ValueError(f"unseen is {self.unseen!r}: give 'error' or 'missing'")
        drop = [("drop", column) for column in dict.fromkeys(self.drop)]
        uses = [
            *self._uses(),
            *drop,
            *(("categorical", column) for column in dict.fromkeys(self.categorical)),
        ]
        seen: dict[str, str] = {}
        for argument, column in uses:
            if (first := seen.setdefault(column, argument)) != argument or uses.count((argument, column)) > 1:
                raise ValueError(
                    f"{first}: column {quote(column)} is given twice: a column has one use; name it once"
                )

    @classmethod
    def of_record(cls, about: Mapping[str, Any]) -> Columns:
        """The columns in the description of a model; what a later version may add is left out."""
        known = {one.name for one in fields(cls)}
        found = {name: value for name, value in about.get("columns", {}).items() if name in known}
        return cls(**{**found, "categories": about.get("categories", {})})

    def record(self) -> dict[str, Any]:
        """The entries of the description of a model."""
        columns = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "categories"}
        categories = {name: list(values) for name, values in (self.categories or {}).items()}
        return {"columns": columns} | ({"categories": categories} if categories else {})

    def recorded(self, data: Collection) -> Columns:
        """The columns for all further data, with the features and categories of the training data."""
        return replace(self, features=data.feature_names, categories=dict(data.categories), categorical=())

    @property
    def text(self) -> tuple[str | None, ...]:
        """The columns that are text in CSV, also where they look like numbers."""
        return (self.query, self.position, self.document, *self.categorical, *(self.categories or ()))

    def open(self, data: Any, name: str = "df", text: Sequence[str | None] = ()) -> Table | None:
        """A table or a file, opened once for several readings; None for an array.

        Messages call a table `name`; the columns `text` of CSV are no numbers, nor those that these columns name.

        Raises
        ------
        ValueError, FileNotFoundError
            If a file is not there, is a folder or cannot be parsed, or there are no rows.

        """
        table: Table | None = data if isinstance(data, Table) else None
        if isinstance(data, str | os.PathLike):
            path = Path(data)
            table = Table.read(path, (*self.text, *text)) if is_table(path) else _letor_table(path)
        elif table is None and (frame := as_frame(name, data)) is not None:
            table = Table(frame, name)
        if (len(table) if table is not None else getattr(data, "shape", (1,))[0]) == 0:
            raise ValueError(
                f"{name if table is None else table.name} has no rows: give those of one query at least"
            )
        return table

    def read(self, data: Any, y: Any = None, *, name: str = "df", **arrays: Any) -> Collection:
        """Features, queries and label sources of a table, a file, or an array and what is given with it.

        Columns that only label the documents need not be there once training has recorded the features.

        Parameters
        ----------
        data : table, path, sparse matrix or array
            A pandas, polars or pyarrow table; CSV, Parquet or LETOR text by its path; or the features alone.
        y : array, optional
            The grades, where they are no column.
        name : str
            What messages call a table or an array.
        **arrays
            What else is no column: ``group=``, the documents of each query, or ``qid=``, the query of each row;
            ``sources=`` by name, ``position=``, and ``weight=`` of rows or queries.

        Raises
        ------
        TypeError, ValueError
            If something is missing, given twice or wrong; names the argument, or the column and the row.

        """
        table = self.open(data, name)
        data = feature_array(data) if table is None else data
        q, documents, rows = self.labels(data if table is None else table, y, name=name, **arrays)
        features, names, categories = self._features(table, data)
        return Collection(features if rows is None else features[rows], q, documents, names, categories, rows)

    def labels(
        self,
        data: Any,
        y: Any = None,
        *,
        group: Any = None,
        qid: Any = None,
        sources: Any = None,
        position: Any = None,
        weight: Any = None,
        name: str = "df",
    ) -> ReadQueries:
        """The queries of a table, a file or an array without the features; as `read`."""
        if group is not None and qid is not None:
            raise ValueError(
                "group and qid are both given: give either documents of each query, or query of each row"
            )
        if isinstance(y, str):
            raise TypeError(
                f"the grades are {quote(y)}: give an array of them, not the name of a column, and drop that column "
                "from the features"
            )
        table = self.open(data, name)
        letor = table is not None and table.letor
        name = name if table is None else table.name
        n = len(table) if table is not None else data.shape[0] if hasattr(data, "shape") else len(data)
        sizes, given = None if group is None else sizes_of(group, n), sources_by_name(sources)
        label = LABEL if letor and self.label is None and y is None else self.label
        document = DOCUMENT if letor and self.document is None else self.document
        wanted = [
            ("query", "qid", self.query, qid if group is None else group),
            ("label", RELEVANCE, label, y),
            *(("sources", key, self.sources.get(key), given.get(key)) for key in {**self.sources, **given}),
            ("position", "position", self.position, position),
            ("weight", "weight", self.weight, weight),
            ("document", "document", document, None),
        ]
        found: dict[str, Any] = {}
        for role, key, column, values in wanted:
            if role == "sources":
                check_new_source(key)
            there = table is not None and column in table.names
            if there == (values is not None):  # both or neither
                self._check_optional(table, name, role, column, there)
            elif table is not None and there:
                found[key] = READERS[role][0](table, column)
            elif role != "query" or sizes is None:
                found[key] = READERS[role][1](f"sources[{key!r}]" if role == "sources" else key, values)
                _check_size(name, role, key, found[key], n)
            if key in found and key in self.rates:
                called = table.describe(column) if table is not None and there else f"sources[{key!r}]"
                refuse_labels(called, found[key], found[key] < 0, "counts of clicks must be ≥ 0")
        rows = _grouped(found["qid"]) if "qid" in found else None
        if rows is not None:
            found = {key: _reordered(values, rows) for key, values in found.items()}
        ids, documents = found.pop("qid", None), found.pop("document", None)
        counts = {source: found.pop(source) for source in self.rates if source in found}
        q = Queries(found.pop(RELEVANCE), sizes, ids=ids, **found)
        for source, values in counts.items():
            q = q.with_source(source, click_rate(values, q))
        return ReadQueries(q, documents, rows)

    def _check_optional(
        self, table: Table | None, name: str, role: str, column: str | None, twice: bool
    ) -> None:
        """Raise where a role is given `twice`, as a column and apart from the table, or lacks and may not."""
        if twice:
            what = {"query": "group or qid", "label": "y"}.get(role, role)
            raise ValueError(
                f"{name} has a column {quote(column)}, and {what} is also given: give one of them, or rename the column"
            )
        read_before = self.categories is not None
        unnamed = table is not None and table.letor and role == "document"
        if role not in ("query", "label") and (column is None or read_before or unnamed):
            return
        if column is None:
            raise ValueError(f"label: {name} has no column for the grades: name their column")
        if table is not None:
            table.check(column, role)
        before = "eval_" if name.startswith("eval") else ""
        or_so = f", or the queries as {before}group= or {before}qid=" if role == "query" else ""
        raise ValueError(f"{role}: {name} has no column {quote(column)}: give a table with it{or_so}")

    def features_in(self, data: Any, name: str = "X") -> Any:
        """The features to predict from, in the order of the rows; needs neither queries nor labels.

        Returns
        -------
        float32 or float64 array of shape (n_rows, n_features), or CSR matrix
            Those of the training in its order, with the codes of its categories.

        """
        return self._features(self.open(data, name), data)[0]

    def _uses(self) -> list[tuple[str, str]]:
        """The arguments that name a column of labels, and the columns."""
        named = [(name, getattr(self, name)) for name in ("query", "label", "position", "weight", "document")]
        named += [("sources", column) for column in self.sources.values()]
        return [(name, column) for name, column in named if column is not None]

    def _features(self, table: Table | None, data: Any) -> tuple[Any, tuple[Any, ...] | None, Categories]:
        """The features, their names and the values of their categories, whose codes are features."""
        if table is None:
            return feature_array(data), None, {}
        names = self.feature_names(table)
        categories = self.categories
        if categories is None:
            named = self._existing("categorical", table)
            if idle := [column for column in named if column not in names]:
                raise ValueError(f"categorical: {quote(idle[0])} is no feature: leave it out")
            categories = find_categories(table, named)
            categories = {column: categories[column] for column in names if column in categories}
        elif wrong := [c for c in find_categories(table) if c in names and c not in categories]:
            raise ColumnTypeError(
                f"{table.name} has categories in the column {quote(wrong[0])}, which held numbers in training: give "
                "numbers"
            )
        if not categories:
            return table.matrix(names), names, {}
        unseen: list[str] | None = [] if self.unseen == "missing" else None
        numbers = table.matrix([name for name in names if name not in categories])
        matrix = np.empty((len(table), len(names)), dtype=numbers.dtype, order="F")
        matrix[:, [at for at, name in enumerate(names) if name not in categories]] = numbers
        for at, name in enumerate(names):
            if name in categories:
                matrix[:, at] = encode(table, name, categories[name], unseen)
        if unseen:
            warn(f"categories that training did not have count as missing: {'; '.join(unseen)}")
        return matrix, names, categories

    def feature_names(self, table: Table) -> tuple[Any, ...]:
        """The columns that are features: those of the training or those given, else all without another use."""
        names = table.names
        if self.features is not None:
            missing = [column for column in self.features if column not in names]
            if missing and not (table.letor and all(map(_is_number, missing))):  # LETOR text omits zeros
                of = "features" if self.categories is None else "features of the training data"
                raise ValueError(f"{table.name} lacks {of}: {listed(missing)}; add these columns")
            if missing:
                warn(
                    f"{table.name} lacks the features {listed(missing)}, which count as 0; if it was made with "
                    "other features than the training data, the scores are meaningless"
                )
            kept = tuple(self.features)
        else:
            gone = {column for _, column in self._uses()}.union(self._existing("drop", table))
            gone |= {QUERY, LABEL, DOCUMENT} if table.letor else set()
            kept = tuple(column for column in names if column not in gone)
            if unnamed := [column for column in kept if table.csv and str(column).startswith("Unnamed: ")]:
                warn(
                    f"{table.name} has a column without a name, {quote(unnamed[0])}, which becomes a feature: name "
                    "it, or leave it out; pandas writes such a one without index=False"
                )
        if not kept:
            raise ValueError(
                f"features is empty: {table.name} needs a column besides those of queries and labels"
            )
        return kept

    def _existing(self, argument: str, table: Table) -> list[Any]:
        """The columns of a list; raises if the table lacks one."""
        for column in getattr(self, argument):
            table.check(column, argument)
        return list(getattr(self, argument))


def _letor_table(path: Path) -> Table:
    """LETOR text as a table of its features, dense, with the columns of grades, queries and names."""
    import pandas as pd

    X, q = data = read_letor(path)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    frame = pd.DataFrame(X, columns=list(map(str, range(1, data.n_features + 1))), copy=False)
    ids = np.arange(1, q.n_queries + 1) if q.ids is None else q.ids
    frame[LABEL], frame[QUERY] = q.relevance, np.repeat(ids, q.sizes)
    if data.documents is not None:
        frame[DOCUMENT] = data.documents
    return Table(as_frame(str(path), frame), str(path), 1, letor=True)


def _is_number(column: Any) -> bool:
    """Whether a column is called as the features of LETOR text are."""
    return isinstance(column, str) and column.isdecimal()


def _check_size(name: str, role: str, key: str, values: Any, n: int) -> None:
    """Raise unless an array has a value for each of the `n` rows of `name`; weights may be those of queries."""
    if role != "weight" and (size := len(getattr(values, "codes", values))) != n:
        before = f"{name} " if name.startswith("eval") else ""
        called = "y" if role == "label" else key
        raise ValueError(f"{before}{called} has {size} rows, {name} has {n}: give one value per document")


def _reordered(values: Any, rows: NDArray[np.int64]) -> Any:
    """Figures of rows in another order; those of queries stay."""
    if isinstance(values, Positions):
        return values.take(rows)
    return values[rows] if len(values) == rows.size else values


def _grouped(ids: NDArray[Any]) -> NDArray[np.int64] | None:
    """The order that brings the rows of each query together; None if they are."""
    order = np.argsort(factorize_in_order(ids)[0], kind="stable")
    return None if (order == np.arange(order.size)).all() else order
