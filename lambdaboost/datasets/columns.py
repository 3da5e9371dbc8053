"""`Columns`: which columns of a table hold the queries, labels and features; every table and file is read by it.

    columns = Columns(query="srch_id", label="grade", sources={"clicks": "ctr"}, position="rank")
    train = columns.read(frame)                   # a Collection; also of a path: CSV, Parquet or LETOR text

`Columns` knows nothing of a training. What training data fix, the features and the values of categories, is an
`Encoder`:

    encoder = Encoder.fit(columns, open_table(frame))
    valid = encoder.read("valid.csv")             # the same features in the same order, the same codes
    X = encoder.transform(open_table(other))      # to predict: needs neither queries nor labels; rows stay in order

**Order.** Rows of a query need not be adjacent. They are grouped in the order of the table; queries appear in the order
of their first rows. `Collection.rows` then says which row each document was. Predictions are in the order of the table.

**Missing values** are nulls and NaN; in CSV empty fields and, in a column of numbers, words such as NA. A missing
feature is NaN, a missing label says nothing of the document, a row without a position was not shown, a document has no
name; a missing query or weight is an error.

**Errors** begin with the argument that named a column, or say the column and the row: counted from 0 in a table, from 1
below the header in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_new_source, refuse_labels
from lambdaboost._warn import warn
from lambdaboost._words import quote
from lambdaboost.datasets.arrays import (
    check_order,
    factorize_in_order,
    labels_of,
    only_column,
    positions_of,
    query_ids,
    refuse_merged,
    weights_of,
)
from lambdaboost.datasets.collection import Categories, Collection, click_rate
from lambdaboost.datasets.queries import RELEVANCE, Queries, match_weights
from lambdaboost.datasets.table import (
    DOCUMENT,
    LABEL,
    QUERY,
    Table,
    category_text,
    encode,
    open_table,
    plain_category,
)

# The roles with exactly one column, in the order in which they are read; `sources` has one for each source.
ROLES = ("query", "label", "position", "weight", "document")
# What to do where a column of a role of numbers holds something else.
REMEDIES = {
    "label": "labels are numbers, such as grades from 0",
    "sources": "labels are numbers, such as grades from 0",
    "weight": "weights are numbers ≥ 0",
}


class Labelled(NamedTuple):
    """The queries of a table with their labels, and the names of its documents: all but the features.

    `rows` is the row of the table that each document was, as in `Collection`.
    """

    queries: Queries
    documents: NDArray[np.object_] | None
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
    >>> data.feature_names
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

    def __post_init__(self) -> None:
        # Types: names are texts, lists become tuples and sources a dict.
        if self.query is None:
            raise TypeError("query is None: give the name of the column that holds the queries")
        for name in ROLES:
            if not isinstance(column := getattr(self, name), str | None):
                raise TypeError(f"{name} is {column!r}: give the name of a column")
        for name in ("sources", "categorical", "features", "drop", "rates"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Iterable | None):
                such_as = "clicks"
                if isinstance(given, str):
                    such_as = given
                raise TypeError(f"{name} is {given!r}: give a list of columns, such as [{such_as!r}]")
            if isinstance(given, Mapping) and name == "sources":
                object.__setattr__(self, name, dict(given))
            elif given is not None or name != "features":
                columns = tuple(given or ())
                object.__setattr__(self, name, columns)
                if name == "sources":
                    object.__setattr__(self, name, dict(zip(columns, columns, strict=True)))
        for name, column in self.sources.items():
            check_new_source(name)
            if not isinstance(column, str):
                raise TypeError(f"sources[{name!r}] is {column!r}: give the name of a column")

        # Each column has one use; that a feature is categorical is none.
        uses = [
            *self._label_uses(),
            *(("drop", column) for column in dict.fromkeys(self.drop)),
            *(("features", column) for column in self.features or ()),
            *(
                ("categorical", one)
                for one in dict.fromkeys(self.categorical)
                if one not in (self.features or ())
            ),
        ]
        seen: dict[Any, str] = {}
        for argument, column in uses:
            if (first := seen.setdefault(column, argument)) != argument or uses.count((argument, column)) > 1:
                raise ValueError(
                    f"{first}: column {quote(column)} is given twice: a column has one use; name it once"
                )

    def _label_uses(self) -> list[tuple[str, str]]:
        """The arguments that name a column of labels, and the columns."""
        named = [(role, getattr(self, role)) for role in ROLES if getattr(self, role) is not None]
        return named + [("sources", column) for column in self.sources.values()]

    @property
    def text(self) -> tuple[str | None, ...]:
        """The columns that are text in CSV, also where they look like numbers."""
        return (self.query, self.position, self.document, *self.categorical)

    def features_of(self, table: Table) -> tuple[Any, ...]:
        """The columns that are features: those given, else all without another use; none of an array."""
        if not table.is_named:
            return ()
        if self.features is not None:
            features = tuple(self.features)
        else:
            for column in self.drop:
                table.check(column, "drop")
            others = {column for _, column in self._label_uses()}.union(self.drop)
            if table.kind == "letor":
                others |= {QUERY, LABEL, DOCUMENT}
            features = tuple(column for column in table.names if column not in others)
            if unnamed := [
                one for one in features if table.kind == "csv" and str(one).startswith("Unnamed: ")
            ]:
                warn(
                    f"{table.name} has a column without a name, {quote(unnamed[0])}, which becomes a feature: name "
                    "it, or leave it out; pandas writes such a one without index=False"
                )
        if not features:
            raise ValueError(
                f"features is empty: {table.name} needs a column besides those of queries and labels"
            )
        return features

    def categories_of(self, table: Table, features: Sequence[Any]) -> Categories:
        """The values of the features that are categorical, in the order of their codes.

        Those of a categorical type keep its order; polars' and Arrow's without one, and those of `categorical`, are
        sorted by their texts.
        """
        if not table.is_named:
            return {}
        for column in self.categorical:
            table.check(column, "categorical")
            if column not in features:
                raise ValueError(f"categorical: {quote(column)} is no feature: leave it out")
        import pandas as pd

        found: dict[Any, Sequence[Any]] = {}
        typed, named = set(table.categorical), set(self.categorical)
        for column in features:
            if column in typed:
                values, _ = table.factorize(column)
                if table.series(column).dtype == nw.Enum:
                    values = list(table.series(column).dtype.categories)
                elif not isinstance(getattr(table.column(column), "dtype", None), pd.CategoricalDtype):
                    values = sorted(values)
                found[column] = tuple(map(plain_category, values))
            elif column in named:
                values, _ = table.factorize(column)
                numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
                if numbers.notna().all() and (fraction := (numbers % 1 != 0).to_numpy()).any():
                    such_as = f"{numbers[fraction.argmax()]:g}"
                    raise ValueError(
                        f"{table.describe(column)} of {table.name} holds numbers, such as {such_as}: categories are "
                        "texts or whole numbers; leave it out of the categories"
                    )
                table.warn_of_words(column, values)
                found[column] = tuple(sorted(set(map(category_text, values))))
        return found

    def read(self, data: Any, y: Any = None, *, name: str = "df", **arrays: Any) -> Collection:
        """Features, queries and label sources of a table, a file, or an array and what is given with it.

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
        table = open_table(data, name, self.text)
        labelled, features = self.read_labels(table, y, **arrays), self.features_of(table)
        categories = self.categories_of(table, features)
        return collect(encode(table, features, categories), labelled, features, categories)

    def read_labels(
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
        optional: bool = False,
    ) -> Labelled:
        """The queries, labels and names of a table, a file or an array, without its features; as `read`.

        Where `optional`, columns of sources, positions, weights and names may lack: data that come after the training
        need not have all that the training read.
        """
        if group is not None and qid is not None:
            raise ValueError(
                "group and qid are both given: give either documents of each query, or query of each row"
            )
        if isinstance(y, str):
            raise TypeError(
                f"the grades are {quote(y)}: give an array of them, not the name of a column, and drop that column "
                "from the features"
            )
        table = open_table(data, name, self.text)
        is_letor, n = table.kind == "letor", len(table)
        sizes, ids = None, qid
        if group is not None:
            sizes = ids = only_column(group)
            is_number = sizes.dtype.kind in "iuf"
            if (not is_number or sizes.sum() != n) and sizes.shape == (n,):
                raise ValueError(
                    f"group has one value for each of the {n} rows, like the query of each row: give it as qid="
                )
            if not is_number or sizes.sum() != n:
                total = f"sums to {sizes.sum()}" if is_number else f"is {sizes.dtype}"
                raise ValueError(
                    f"group {total}, data has {n} rows: give the number of documents of each query"
                )

        # Where each role is looked for: the key under which it is kept, its column, and the array in its place.
        if hasattr(sources, "columns"):
            frame = open_table(sources, "sources")
            sources = {one: frame.column(one) for one in frame.names}
        if not isinstance(sources, Mapping | None):
            raise TypeError(
                f"sources is of type {type(sources).__name__}: give a dict such as {{'clicks': rates}}, or a DataFrame"
            )
        arrays = dict(sources or {})
        label, document = self.label, self.document
        if is_letor and label is None and y is None:
            label = LABEL
        if is_letor and document is None and DOCUMENT in table.names:
            document = DOCUMENT
        wanted = [
            ("query", "qid", self.query, ids),
            ("label", RELEVANCE, label, y),
            *(("sources", key, self.sources.get(key), arrays.get(key)) for key in {**self.sources, **arrays}),
            ("position", "position", self.position, position),
            ("weight", "weight", self.weight, weight),
            ("document", "document", document, None),
        ]
        found: dict[str, Any] = {}
        rows_of_table = None if table.frame is None else table.frame.to_native()
        for role, key, column, values in wanted:
            if role == "sources":
                check_new_source(key)
            check_order("y" if role == "label" else key, values, table.name, rows_of_table)
            is_column = column is not None and column in table.names
            if is_column and values is not None:
                what = {"query": "group or qid", "label": "y"}.get(role, role)
                raise ValueError(
                    f"{table.name} has a column {quote(column)}, and {what} is also given: give one of them, or "
                    "rename the column"
                )
            if is_column:
                found[key] = _read_column(table, role, column)
            elif values is None:
                # Neither a column nor an array: an error where the role must be filled.
                if column is None and role == "label":
                    raise ValueError(f"label: {table.name} has no column for the grades: name their column")
                if column is not None and (role in ("query", "label") or not optional):
                    if table.is_named:
                        table.check(column, role)
                    or_so = ""
                    if role == "query":
                        before = "eval_" if table.name.startswith("eval") else ""
                        or_so = f", or the queries as {before}group= or {before}qid="
                    raise ValueError(
                        f"{role}: {table.name} has no column {quote(column)}: give a table with it{or_so}"
                    )
            elif role == "weight":
                found[key] = values
            elif role != "query" or sizes is None:
                found[key] = _read_array(table, role, key, values)
            if key in found and key in self.rates:
                called = f"sources[{key!r}]"
                if is_column:
                    called = table.describe(column)
                refuse_labels(called, found[key], found[key] < 0, "counts of clicks must be ≥ 0")

        # Rows of a query come together.
        rows, weights = None, found.pop("weight", None)
        if "qid" in found:
            of_row, first = factorize_in_order(found["qid"])
            order = np.argsort(of_row, kind="stable")
            scattered = bool((order != np.arange(n)).any())
            if weights is not None:
                weights = match_weights(weights, found["qid"][first], n, scattered)
            if scattered:
                rows = order
                if weights is not None and weights.size == n:
                    weights = weights[rows]
                if "position" in found:
                    found["position"] = found["position"].take(rows)
                for key in found.keys() - {"position"}:
                    found[key] = found[key][rows]
        documents, ids = found.pop("document", None), found.pop("qid", None)
        counts = {source: found.pop(source) for source in self.rates if source in found}
        q = Queries(found.pop(RELEVANCE), sizes, ids=ids, weight=weights, **found)
        for source, values in counts.items():
            q = q.with_source(source, click_rate(values, q))
        return Labelled(q, documents, rows)


def collect(features: Any, labelled: Labelled, names: Sequence[Any], categories: Categories) -> Collection:
    """Features, in the order of a table's rows, with its queries; those of an array have no names."""
    if labelled.rows is not None:
        features = features[labelled.rows]
    return Collection(
        features, labelled.queries, labelled.documents, tuple(names) or None, categories, labelled.rows
    )


def _read_column(table: Table, role: str, column: str) -> Any:
    """Convert a column to the type of its role."""
    called = table.describe(column)
    if role == "query":
        ids = query_ids(called, table.values(column))
        if ids.dtype == object:
            table.warn_of_words(column, ids.tolist())
        return ids
    if role == "document":
        if table.series(column).dtype.is_float():
            refuse_merged(called, table.values(column))
        values, of_row = table.factorize(column)
        return np.array([*map(category_text, values), ""], dtype=object)[of_row]
    if role in ("label", "sources"):
        return labels_of(called, table.numbers(column, REMEDIES[role]))
    if role == "weight":
        return weights_of(called, table.numbers(column, REMEDIES[role]))

    # Positions: those of CSV are ranks where every field that is not empty is a number.
    given = table.column(column)
    if table.kind == "letor":
        given = np.where(np.asarray(given) == 0, np.nan, given)
    if table.kind == "csv":
        import pandas as pd

        ranks = pd.to_numeric(given, errors="coerce")
        text = (given.notna() & ranks.isna()).to_numpy()
        if text.any() and ranks.notna().any():
            row = int(text.argmax())
            raise ValueError(
                f"{called} is {quote(given[row])} in {called.row(row)} and a number in other rows: give ranks in all "
                "rows or text in all; an empty field is a row that was not shown"
            )
        if not text.any():
            given = ranks
    return positions_of(called, given)


def _read_array(table: Table, role: str, key: str, values: Any) -> Any:
    """An array in the place of a column, with a value for each row."""
    found: Any
    if role == "query":
        found = query_ids(key, values)
    elif role == "position":
        found = positions_of(key, values)
    elif role == "label":
        found = labels_of(key, only_column(values))
    else:
        found = labels_of(f"sources[{key!r}]", values)
    size = len(getattr(found, "codes", found))  # codes of positions
    if size != len(table):
        before = ""
        if table.name.startswith("eval"):
            before = f"{table.name} "
        called = {"label": "y"}.get(role, key)
        raise ValueError(
            f"{before}{called} has {size} rows, {table.name} has {len(table)}: give one value per document"
        )
    return found
