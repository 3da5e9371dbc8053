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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_new_source, refuse_labels
from lambdaboost._words import listed, plain, shown
from lambdaboost.datasets.arrays import (
    codes_of,
    feature_array,
    labels_of,
    query_ids,
    sizes_of,
    weights_of,
)
from lambdaboost.datasets.categories import (
    Categories,
    categories_in,
    check_unseen,
    codes_in,
    levels_in,
    text_of_value,
    warn_of_unseen,
)
from lambdaboost.datasets.click_rates import click_rate
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.letor_table import LetorTable, fitted_to, open_table, with_storage
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.datasets.tables import Table, WrongType, grades_of, sources_by_name

QUERY, LABEL = "qid", "label"  # the names of LETOR text, and the command line's defaults


class Labels(NamedTuple):
    """Queries with their labels, the names of the documents and, as of `Collection`, the row that each was."""

    queries: Queries
    documents: NDArray[np.str_] | None
    rows: NDArray[np.int64] | None


@dataclass(frozen=True)
class Columns:
    """Which columns hold what; LETOR text has the columns 1, 2, … besides its queries and grades.

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
        Features of text or whole numbers that become categories, besides those that have a categorical type; here and
        in `drop` also ranges such as ``134-136`` or ``title_bm25-title_length``.
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
    n_features, sparse : optional
        The number of columns of LETOR text, and whether features are stored sparse, which means "missing" to XGBoost.

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
    n_features: int | None = None
    sparse: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.query, str):
            raise TypeError(f"query is {self.query!r}: give the name of the column that holds the queries")
        for name in ("label", "position", "weight", "document"):
            if not isinstance(column := getattr(self, name), str | None):
                raise TypeError(f"{name} is {column!r}: give the name of a column")
        for name in ("sources", "categorical", "features", "drop", "rates"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Iterable | None):
                such_as = given if isinstance(given, str) else "clicks"
                raise TypeError(f"{name} is {given!r}: give a list of columns, such as [{such_as!r}]")
            if name != "sources":
                object.__setattr__(
                    self, name, None if given is None and name == "features" else tuple(given or ())
                )
        if not isinstance(self.sources, Mapping) and len(set(self.sources or ())) < len(self.sources or ()):
            raise ValueError(f"sources is {self.sources!r}: name each column once")
        named = (
            self.sources if isinstance(self.sources, Mapping) else {name: name for name in self.sources or ()}
        )
        object.__setattr__(self, "sources", dict(named))
        for name, column in self.sources.items():
            check_new_source(name)
            if not isinstance(column, str):
                raise TypeError(f"sources[{name!r}] is {column!r}: give the name of a column")
        check_unseen(self.unseen or "error")
        own = [column for _, column in self._own()]
        used = [*own, *dict.fromkeys(self.drop), *dict.fromkeys(self.categorical)]
        if twice := next((column for column in used if used.count(column) > 1), None):
            first, *_ = (
                (name for name, column in self._own() if column == twice) if twice in own else ("drop",)
            )
            raise ValueError(
                f"{first}: column {shown(twice)} is given twice: a column has one use; name it once"
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

    def recorded(self, data: Collection, table: Table | None = None) -> Columns:
        """The columns for all further data, with the features and categories of the training data.

        `table` is what they were read from, if that may be LETOR text.
        """
        letor = isinstance(table, LetorTable)
        n_features = max(table.n_features, self.n_features or 0) if isinstance(table, LetorTable) else None
        sparse = not isinstance(data.features, np.ndarray) if letor else None
        return replace(
            self,
            features=data.feature_names,
            categories=dict(data.categories),
            categorical=(),
            drop=self.drop if table is None else self._expanded("drop", table),
            n_features=n_features,
            sparse=sparse,
        )

    @property
    def text(self) -> tuple[str | None, ...]:
        """The columns that are text in CSV, also where they look like numbers."""
        return (self.query, self.position, self.document, *self.categorical, *(self.categories or ()))

    def open(self, data: Any, name: str = "df", text: Sequence[str | None] = ()) -> Table | None:
        """A table or a file, opened once for several readings; None for an array.

        Messages call a table `name`; the columns `text` of CSV are no numbers, nor those that these columns name.
        """
        return open_table(data, (*self.text, *text), name)

    def read(
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
    ) -> Collection:
        """Features, queries and label sources of a table, a file, or an array and what is given with it.

        Columns that only label the documents need not be there once training has recorded the features.

        Parameters
        ----------
        data : table, path, sparse matrix or array
            A pandas, polars or pyarrow table; CSV, Parquet or LETOR text by its path; or the features alone.
        y, group, qid, sources, position, weight : optional
            What is no column: the grades, the documents of each query or the query of each row, label sources by name,
            positions, and weights of rows or queries.
        name : str
            What messages call a table or an array.

        Raises
        ------
        TypeError, ValueError
            If something is missing, given twice or wrong; names the argument, or the column and the row.

        """
        table = self._opened(data, name)
        data = feature_array(data) if table is None else data
        beside = {"group": group, "qid": qid, "sources": sources, "position": position, "weight": weight}
        q, documents, rows = self._labels(table, name, data, y, **beside, strict=self.categories is None)
        features, names, categories = self._features(table, data)
        return Collection(features if rows is None else features[rows], q, documents, names, categories, rows)

    def labels(
        self, data: Any, y: Any = None, *, strict: bool = True, name: str = "df", **beside: Any
    ) -> Labels:
        """The queries of a table, a file or an array without the features; as `read`.

        Without `strict` the columns of sources, positions, weights and documents need not be there.
        """
        table = self._opened(data, name)
        return self._labels(table, name, data, y, **beside, strict=strict)

    def features_in(self, data: Any, name: str = "X") -> Any:
        """The features to predict from, in the order of the rows; needs neither queries nor labels.

        Returns
        -------
        float32 or float64 array of shape (n_rows, n_features), or CSR matrix
            Those of the training in its order, with the codes of its categories.

        """
        table = self._opened(data, name, warns=True)
        return self._features(table, data)[0]

    def _opened(self, data: Any, name: str, warns: bool = False) -> Table | None:
        """A table or a file; LETOR text with all columns of the training data."""
        table = self.open(data, name)
        if isinstance(table, LetorTable) and self.n_features is not None:
            return fitted_to(table, self.n_features, warns)
        return table

    def _labels(
        self,
        table: Table | None,
        name: str,
        data: Any,
        y: Any,
        group: Any = None,
        qid: Any = None,
        sources: Any = None,
        position: Any = None,
        weight: Any = None,
        *,
        strict: bool,
    ) -> Labels:
        """The queries of the rows with their labels, each query together."""
        n = len(table) if table is not None else data.shape[0] if hasattr(data, "shape") else len(data)
        name = name if table is None else table.where
        given = {"query": qid if group is None else group, "label": y, "position": position, "weight": weight}
        there = self._there(table, name, given, strict)
        labels = {RELEVANCE: self._grades(table, there, y, name)} | self._sources(table, there, sources)
        ids, sizes = self._queries(table, there, group, qid, n)
        positions = _positions(table, there.get("position"), position)
        weights = _weights(table, there.get("weight"), weight)
        documents = _documents(table, there.get("document"))
        for argument, values in {**labels, "position": positions, "qid": ids}.items():
            if values is not None and (size := len(getattr(values, "codes", values))) != n:
                called = "y" if argument == RELEVANCE else argument
                before = f"{name} " if name.startswith("eval") else ""
                raise ValueError(
                    f"{before}{called} has {size} rows, {name} has {n}: give one value per document"
                )
        rows = None if ids is None else _grouped(ids)
        if rows is not None:
            ids = ids[rows]
            labels = {source: values[rows] for source, values in labels.items()}
            positions = positions and positions.take(rows)
            weights = weights[rows] if weights is not None and weights.size == n else weights
            documents = None if documents is None else documents[rows]
        counts = {source: labels.pop(source) for source in self.rates if source in labels}
        q = Queries(labels.pop(RELEVANCE), sizes, ids=ids, weight=weights, position=positions, **labels)
        for source, values in counts.items():
            q = q.with_source(source, click_rate(values, q))
        return Labels(q, documents, rows)

    def _own(self) -> list[tuple[str, str]]:
        """The arguments that name a column of labels, and the columns."""
        named = [(name, getattr(self, name)) for name in ("query", "label", "position", "weight", "document")]
        named += [("sources", column) for column in self.sources.values()]
        return [(name, column) for name, column in named if column is not None]

    def _there(
        self, table: Table | None, name: str, given: Mapping[str, Any], strict: bool
    ) -> dict[str, str]:
        """The columns of labels that a table has, by argument, those of sources by source.

        Raises ValueError if one is missing, if `strict`, or is also `given` as an argument.
        """
        found = {}
        roles = dict(self._own()) | {f"sources {source}": column for source, column in self.sources.items()}
        names = [] if table is None else table.names
        for role, column in roles.items():
            argument = role.split()[0]
            if argument in ("query", "label", "document") and isinstance(table, LetorTable):
                if column not in (QUERY, LABEL):
                    raise ValueError(
                        f"{argument}: {name} is LETOR text, which has its own: leave {argument} out"
                    )
            elif column in names:
                if given.get(argument) is not None:
                    what = {"query": "group or qid", "label": "y"}.get(argument, argument)
                    raise ValueError(
                        f"{name} has a column {shown(column)}, and {what} is also given: give one of them, or rename "
                        "the column"
                    )
                found[role] = column
            elif given.get(argument) is None and (strict or argument == "query") and role != "sources":
                if table is not None:
                    table.check(column, argument)
                before = "eval_" if name.startswith("eval") else ""
                or_so = f", or the queries as {before}group= or {before}qid=" if argument == "query" else ""
                raise ValueError(
                    f"{argument}: {name} has no column {shown(column)}: give a table with it{or_so}"
                )
        return found

    def _grades(self, table: Table | None, there: Mapping[str, str], y: Any, name: str) -> Any:
        """The grades, float32 (n_documents,)."""
        if isinstance(y, str):
            raise TypeError(
                f"the grades of {name} are {plain(repr(y))}: give an array of them, not the name of a column, and drop "
                "that column from the features"
            )
        if y is not None:
            return grades_of(y)
        if isinstance(table, LetorTable):
            return table.queries.labels[RELEVANCE]
        if table is None or "label" not in there:
            column = "" if self.label is None else f" column {shown(self.label)} for"
            raise ValueError(f"label: {name} has no{column} the grades: name their column")
        return labels_of(table.called(there["label"]), table.numbers(there["label"]))

    def _sources(
        self, table: Table | None, there: Mapping[str, str], given: Any
    ) -> dict[str, NDArray[np.float32]]:
        """Further label sources, float32 (n_documents,)."""
        found, beside = {}, sources_by_name(given)
        for source, values in beside.items():
            check_new_source(source)
            if f"sources {source}" in there:
                raise ValueError(
                    f"column {shown(self.sources[source])} and sources= both give label source {source!r}: give one of "
                    "them"
                )
            found[source] = labels_of(f"sources[{source!r}]", values)
        for source, column in self.sources.items():
            if table is not None and f"sources {source}" in there:
                called = table.called(column)
                found[source] = labels_of(called, table.numbers(column))
                if source in self.rates:
                    refuse_labels(called, found[source], found[source] < 0, "counts of clicks must be ≥ 0")
        return found

    def _queries(
        self, table: Table | None, there: Mapping[str, str], group: Any, qid: Any, n: int
    ) -> tuple[Any, Any]:
        """The query of each row, or else the number of rows of each query."""
        if table is not None and "query" in there:
            return table.ids(self.query), None
        if isinstance(table, LetorTable):
            q = table.queries
            return (None, q.sizes) if q.ids is None else (np.repeat(q.ids, q.sizes), None)
        if group is not None and qid is not None:
            raise ValueError(
                "group and qid are both given: give either documents of each query, or query of each row"
            )
        return (None, sizes_of(group, n)) if qid is None else (query_ids("qid", qid), None)

    def _features(self, table: Table | None, data: Any) -> tuple[Any, tuple[Any, ...] | None, Categories]:
        """The features, their names and the values of their categories."""
        if table is None:
            return feature_array(data), None, {}
        names = self.feature_names(table)
        if isinstance(table, LetorTable):
            if self.categorical:
                raise ValueError(f"categorical is for tables, but {table.where} is LETOR text: leave it out")
            return with_storage(table.matrix(names), self.sparse), names, {}
        categories = self.categories
        if categories is None:
            named = self._expanded("categorical", table)
            if idle := [column for column in named if column not in names]:
                raise ValueError(f"categorical: {shown(idle[0])} is no feature: leave it out")
            categories = categories_in(table, named)
            categories = {column: categories[column] for column in names if column in categories}
        elif wrong := [c for c in categories_in(table) if c in names and c not in categories]:
            raise WrongType(
                f"{table.where} has categories in the column {shown(wrong[0])}, which held numbers in training: give "
                "numbers"
            )
        return self._coded(table, names, categories), names, categories

    def _coded(self, table: Table, names: Sequence[Any], categories: Categories) -> NDArray[Any]:
        """Features, of those with categories the codes."""
        if not categories:
            return table.matrix(names)
        lost: dict[Any, str] | None = {} if self.unseen == "missing" else None
        plain = [name for name in names if name not in categories]
        numbers = table.matrix(plain) if plain else np.empty((len(table), 0), dtype=np.float32)
        matrix = np.empty((len(table), len(names)), dtype=numbers.dtype, order="F")
        matrix[:, [at for at, name in enumerate(names) if name not in categories]] = numbers
        for at, name in enumerate(names):
            if name in categories:
                matrix[:, at] = codes_in(table.called(name), levels_in(table, name), categories[name], lost)
        warn_of_unseen(lost or {})
        return matrix

    def feature_names(self, table: Table) -> tuple[Any, ...]:
        """The columns that are features: those of the training or those given, else all without another use."""
        names = table.names
        if self.n_features is not None and not isinstance(table, LetorTable):
            raise ValueError(
                f"{table.where} is a table, but the training data were LETOR text: give such text"
            )
        if isinstance(table, LetorTable):  # which may omit the last ones
            names += [str(at) for at in range(len(names) + 1, (self.n_features or 0) + 1)]
        if self.features is not None:
            if missing := [column for column in self.features if column not in names]:
                of = "features" if self.categories is None else "features of the training data"
                raise ValueError(f"{table.where} lacks {of}: {listed(missing)}; add these columns")
            kept = tuple(self.features)
        else:
            own = {column for argument, column in self._own()}
            gone = own.union(self._expanded("drop", table))
            kept = tuple(column for column in names if column not in gone)
        if not kept:
            raise ValueError(
                f"features is empty: {table.where} needs a column besides those of queries and labels"
            )
        return kept

    def _expanded(self, argument: str, table: Table) -> list[Any]:
        """The columns of a list in which ranges may stand, such as ``134-136``; a range skips columns of labels."""
        names, found = table.names, []
        own = {column for _, column in self._own()}
        for item in getattr(self, argument):
            if item in names:
                found.append(item)
                continue
            for at in (at for at, letter in enumerate(str(item)) if letter == "-"):
                first, last = item[:at].strip(), item[at + 1 :].strip()
                if first in names and last in names and names.index(first) <= names.index(last):
                    within = names[names.index(first) : names.index(last) + 1]
                    found += [column for column in within if column not in own]
                    break
            else:
                table.check(item, argument)
        return found


def _positions(table: Table | None, column: str | None, given: Any) -> Positions | None:
    """The positions of the rows, in a column or given."""
    if table is not None and column is not None:
        return table.positions(column)
    return None if given is None else positions_of("position", given)


def _weights(table: Table | None, column: str | None, given: Any) -> NDArray[np.float32] | None:
    """The weights of rows, in a column, or of rows or queries, given."""
    if table is not None and column is not None:
        return weights_of(table.called(column), table.numbers(column))
    return None if given is None else weights_of("weight", given)


def _documents(table: Table | None, column: str | None) -> NDArray[np.str_] | None:
    """The name of each document, "" where it is missing."""
    if isinstance(table, LetorTable):
        documents: NDArray[np.str_] | None = table.whole.documents
        return documents
    if table is None or column is None:
        return None
    levels = levels_in(table, column)
    return np.array([*map(text_of_value, levels.values), ""], dtype=np.str_)[levels.of_row]


def names_of_rows(columns: Columns, table: Table) -> tuple[NDArray[Any], NDArray[np.str_] | None]:
    """The query and the name of each row, in the order of the rows; None for names that are in no column."""
    if isinstance(table, LetorTable):
        q = table.queries
        queries = np.repeat(np.arange(1, 1 + q.n_queries) if q.ids is None else q.ids, q.sizes)
        return queries, _documents(table, None)
    table.check(columns.query, "query")
    if columns.document is not None:
        table.check(columns.document, "document")
    return table.ids(columns.query), _documents(table, columns.document)


def _grouped(ids: NDArray[Any]) -> NDArray[np.int64] | None:
    """The order that brings the rows of each query together; None if they are."""
    order = np.argsort(codes_of(ids)[0], kind="stable")
    return None if (order == np.arange(order.size)).all() else order
