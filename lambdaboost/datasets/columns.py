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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import RowError, check_new_source, check_rows, error_context, naming_rows
from lambdaboost._warn import warn
from lambdaboost._words import counted, listed, quote
from lambdaboost.datasets.arrays import (
    check_order,
    factorize_in_order,
    feature_array,
    is_missing,
    labels_of,
    only_column,
    positions_of,
    query_ids,
    weights_of,
)
from lambdaboost.datasets.collection import Categories, Collection, click_rate
from lambdaboost.datasets.queries import (
    NO_POSITIONS,
    RELEVANCE,
    Queries,
    offsets_of_sizes,
    queries_of,
    weights_of_rows,
)
from lambdaboost.datasets.table import (
    DOCUMENT,
    LABEL,
    QUERY,
    Table,
    category_text,
    open_table,
    parse_numbers,
)

UNSEEN = ("error", "missing")
# The roles with exactly one column, in the order in which they are read; `sources` has one for each source.
ROLES = ("query", "label", "position", "weight", "document")
ONE_KIND = "give ranks in all rows or text in all; an empty field is a row that was not shown"
# What to do where a column of a role of numbers holds something else.
REMEDIES = {
    "label": "labels are numbers, such as grades from 0",
    "sources": "labels are numbers, such as grades from 0",
    "weight": "weights are numbers ≥ 0",
}
# What checks the values of a role, which errors call by a name, and makes an array of its type.
CONVERT: dict[str, Callable[[str, Any], Any]] = {
    "query": query_ids,
    "label": labels_of,
    "sources": labels_of,
    "position": positions_of,
    "weight": weights_of,
}


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
        for name in ("sources", "categorical", "features", "drop", "rates"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Iterable | None):
                raise TypeError(f"{name} is {given!r}: give a list of columns, such as ['clicks']")
            if name == "sources" and not isinstance(given, Mapping):
                given = {column: column for column in given or ()}
            if name != "sources" and (given is not None or name != "features"):
                given = tuple(given or ())
            object.__setattr__(self, name, given)
        for name in self.sources:
            check_new_source(name)
        uses = self._label_uses()
        for argument, column in uses:
            if not isinstance(column, str):
                raise TypeError(f"{argument} is {column!r}: give the name of a column")

        # Each column has one use; that a feature is categorical is none.
        categorical = set(self.categorical).difference(self.features or ())
        uses += [("drop", column) for column in dict.fromkeys(self.drop)]
        uses += [("features", column) for column in self.features or ()]
        uses += [("categorical", column) for column in categorical]
        seen: dict[Any, str] = {}
        for argument, column in uses:
            if column in seen:
                raise ValueError(
                    f"{seen[column]}: column {quote(column)} is given twice: a column has one use; name it once"
                )
            seen[column] = argument

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
            if table.format == "letor":
                others |= {QUERY, LABEL, DOCUMENT}
            features = tuple(column for column in table.names if column not in others)
            if unnamed := [one for one in features if str(one).startswith("Unnamed: ")]:
                warn(
                    f"{table.name} has a column without a name, {quote(unnamed[0])}, which becomes a feature: name "
                    "it, or drop it; pandas writes such a one without index=False"
                )
        if not features:
            raise ValueError(
                f"features is empty: {table.name} needs a column besides those of queries and labels"
            )
        return features

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
        return Encoder.fit(self, table).read(table, y, optional=False, **arrays)

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
    ) -> tuple[Queries, NDArray[np.object_] | None, NDArray[np.int64] | None]:
        """The queries of a table, a file or an array with their labels, the names of the documents, and their rows.

        All that `read` gives but the features; the rows are those of `Collection`. Where `optional`, columns of
        sources, positions, weights and names may lack: data that come after the training need not have all that the
        training read.
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
        if hasattr(sources, "columns"):
            frame = open_table(sources, "sources")
            sources = {one: frame.column(one) for one in frame.names}
        if not isinstance(sources, Mapping | None):
            raise TypeError(
                f"sources is of type {type(sources).__name__}: give a dict such as {{'clicks': rates}}, or a DataFrame"
            )
        table, arrays = open_table(data, name, self.text), dict(sources or {})
        n, label, document = len(table), self.label, self.document
        if table.format == "letor" and label is None and y is None:
            label = LABEL
        if table.format == "letor" and document is None and DOCUMENT in table.names:
            document = DOCUMENT
        if group is not None:
            sizes = np.diff(offsets_of_sizes("group", only_column(group), n))
            qid = np.repeat(np.arange(sizes.size), sizes)

        # Of all that is read: the role, the name of an array in its place, the column, and the array.
        for one in arrays:
            check_new_source(one)
        named = {one: f"sources[{one!r}]" for one in {**self.sources, **arrays}}
        if unknown := [name for name in self.rates if name not in named]:
            raise ValueError(
                f"rates: {quote(unknown[0])} is no source: give the name of one ({listed(named)})"
            )
        wanted = [
            ("query", "qid", self.query, qid),
            ("label", "y", label, y),
            *(("sources", called, self.sources.get(one), arrays.get(one)) for one, called in named.items()),
            ("position", "position", self.position, position),
            ("weight", "weight", self.weight, weight),
            ("document", "document", document, None),
        ]
        found: dict[str, Any] = {}
        # Whose index the arrays are compared with.
        compared, with_index = table.name, table.frame.to_native()
        if not table.is_named:
            compared, with_index = "y", y
        for role, called, column, array in wanted:
            is_column = column is not None and column in table.names
            if is_column and array is not None:
                what = "group or qid" if role == "query" else called
                raise ValueError(
                    f"{table.name} has a column {quote(column)}, and {what} is also given: give one of them, or rename "
                    "the column"
                )
            if is_column:
                with naming_rows(table.place):
                    found[called] = _read_column(table, role, column)
            elif array is not None:
                check_order(called, array, compared, with_index)
                found[called] = CONVERT[role](called, array)
                size = len(getattr(found[called], "codes", found[called]))  # codes of positions
                if role != "weight":  # of which there may be one for each query
                    check_rows(called, size, table.name, n)
            elif role in ("query", "label") or (column is not None and not optional):
                table.check(column, role)

        # Rows of a query come together, and queries in the order of their first rows, by which they are numbered.
        of_row, first = factorize_in_order(found["qid"])
        ids, order, rows = found["qid"][first], np.arange(n), None
        if "weight" in found:
            given = found["weight"] if weight is None else weight
            found["weight"] = weights_of_rows(given, of_row, ids)
        if (of_row[1:] < of_row[:-1]).any():
            order = rows = np.argsort(of_row, kind="stable")
            found = {called: values.take(rows) for called, values in found.items()}
        labels = {RELEVANCE: found["y"]}
        labels |= {one: found[called] for one, called in named.items() if called in found}
        counts = {source: labels.pop(source) for source in self.rates if source in labels}
        offsets, positions = np.append(0, np.cumsum(np.bincount(of_row))), found.get("position", NO_POSITIONS)
        if group is not None:
            ids = None
        q = queries_of(offsets, labels, ids, found.get("weight"), *positions)
        for source, values in counts.items():
            with naming_rows(lambda row: table.place(order[row])), error_context(f"rates: {source}"):
                q = q.with_source(source, click_rate(values, q))
        return q, found.get("document"), rows


@dataclass(frozen=True)
class Encoder:
    """The features of a training and the values of its categorical ones, whose places are their codes.

    A category is known by its text, so that 7, 7.0 and ``"7"`` are one, whatever the table's library; the fields of CSV
    are texts, of which ``7.0`` is another one, unless those of training were real numbers.

    Parameters
    ----------
    columns : Columns
        Which columns hold the queries and labels.
    features : list of str
        The names of the features, in order; empty where the training had an array, whose columns have a place only.
    categories : dict of str to list
        The values of each categorical feature: texts, or numbers that the table's categorical type holds. pandas' type
        keeps its order, polars' and Arrow's without an order are sorted, so that their codes may differ.
    unseen : "error" or "missing"
        What a category is that training did not have; ``"missing"`` warns once, with counts.

    Examples
    --------
    >>> import pandas as pd
    >>> train = open_table(pd.DataFrame({"qid": [7, 7], "market": ["us", "de"], "price": [3.0, 4.0]}))
    >>> encoder = Encoder.fit(Columns(categorical=["market"]), train)
    >>> encoder.features, encoder.categories
    (('market', 'price'), {'market': ('de', 'us')})
    >>> encoder.transform(open_table(pd.DataFrame({"price": [5.0], "market": ["de"]})))
    array([[0., 5.]])

    """

    columns: Columns = field(default_factory=Columns)
    features: tuple[Any, ...] = ()
    categories: Categories = field(default_factory=dict)
    unseen: str = "error"

    def __post_init__(self) -> None:
        if self.unseen not in UNSEEN:
            raise ValueError(f"unseen is {self.unseen!r}: give 'error' or 'missing'")
        categories = {name: tuple(map(plain_category, values)) for name, values in self.categories.items()}
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "categories", categories)

    @classmethod
    def fit(cls, columns: Columns, table: Table, unseen: str = "error") -> Self:
        """The encoder of training data.

        Categories of a type with an order keep it; polars' and Arrow's without one, and those of `Columns.categorical`,
        are sorted by their texts.

        Raises
        ------
        ValueError
            If columns lack, or one that should be categorical is no feature or holds numbers with fractions.

        """
        import pandas as pd

        features = columns.features_of(table)
        for column in columns.categorical:
            table.check(column, "categorical")
            if column not in features:
                raise ValueError(f"categorical: {quote(column)} is no feature: leave it out")
        found: dict[Any, Sequence[Any]] = {}
        typed, named = set(table.categorical), set(columns.categorical)
        for column in features:
            if column not in typed | named:
                continue
            values, _ = table.factorize(column)
            dtype = table.series(column).dtype
            if column not in typed:
                numbers = parse_numbers(values)
                # Not by a remainder, of which NumPy warns where a text reads as infinity.
                if (fraction := numbers != np.floor(numbers)).any() and not np.isnan(numbers).any():
                    such_as = f"{numbers[fraction.argmax()]:g}"
                    raise ValueError(
                        f"column {quote(column)} of {table.name} holds numbers, such as {such_as}: categories are "
                        "texts or whole numbers; leave it out of the categories"
                    )
                values = sorted(set(map(category_text, values)))
            elif dtype == nw.Enum:
                values = list(dtype.categories)
            elif not isinstance(getattr(table.column(column), "dtype", None), pd.CategoricalDtype):
                values = sorted(values)
            found[column] = values
        return cls(columns, features, found, unseen)

    @classmethod
    def from_dict(cls, about: Mapping[str, Any]) -> Self:
        """The encoder of `to_dict`; what a later version may add is left out."""
        given = about.get("columns", {})
        known = {one.name for one in fields(Columns)} - {"features"}
        columns = Columns(**{name: value for name, value in given.items() if name in known})
        features, unseen = given.get("features") or (), given.get("unseen", "error")
        # JSON has texts alone as names, and columns of a frame may be numbers.
        of_text = {str(name): name for name in features}
        categories = {of_text.get(name, name): of for name, of in about.get("categories", {}).items()}
        return cls(columns, features, categories, unseen)

    def to_dict(self) -> dict[str, Any]:
        """The entries of the description of a model, as JSON holds them."""
        columns = asdict(self.columns) | {"features": None, "unseen": self.unseen}
        if self.features:
            columns["features"] = self.features
        entries: dict[str, Any] = {"columns": columns}
        if self.categories:
            entries["categories"] = {name: list(values) for name, values in self.categories.items()}
        return entries

    @property
    def text(self) -> tuple[str | None, ...]:
        """The columns that are text in CSV, also where they look like numbers."""
        return (*self.columns.text, *self.categories)

    def transform(self, table: Table) -> Any:
        """The features of a table, in the order of its rows; needs neither queries nor labels.

        Features that lack are an error; in LETOR text, which omits zeros, they count as 0, with a warning. Categories
        that training did not have are an error, or with ``unseen="missing"`` missing, with one warning.

        Returns
        -------
        float32 or float64 array of shape (n_rows, n_features)
            Those of the training in its order, with the codes of its categories, NaN where missing; an array, or CSR
            matrix, as it is.

        """
        if not table.is_named:
            return feature_array(table.matrix)
        names = self.features or self.columns.features_of(table)
        if wrong := [one for one in table.categorical if one in names and one not in self.categories]:
            raise ValueError(
                f"{table.name} has categories in the column {quote(wrong[0])}, which held numbers in training: give "
                "numbers"
            )

        for column, such_as in table.padded.items():
            if column in names and column not in self.categories:
                warn(
                    f"column {quote(column)} of {table.name} holds {such_as!r}, read as a number: if it is a code, "
                    "make the column categorical, or drop it"
                )

        # Features that the table lacks.
        there = set(table.names)
        if lacking := [name for name in names if name not in there]:
            if table.format != "letor" or not all(
                isinstance(one, str) and one.isdecimal() for one in lacking
            ):
                raise ValueError(f"{table.name} lacks the features {listed(lacking)}: add these columns")
            if lacking != ["0"]:  # the column that engines leave empty
                warn(
                    f"{table.name} lacks the features {listed(lacking)}, which count as 0; if it was made with other "
                    "features than the training data, the scores are meaningless"
                )
            zeros = (nw.lit(0, nw.Float32).alias(name) for name in lacking)
            table = replace(table, frame=table.frame.with_columns(*zeros))
        if not self.categories:
            return table.numbers(names)

        # Numbers together, then the codes of each category between them.
        numbers = table.numbers([name for name in names if name not in self.categories])
        features = np.empty((len(table), len(names)), dtype=numbers.dtype, order="F")
        features[:, [at for at, name in enumerate(names) if name not in self.categories]] = numbers
        others: list[str] = []
        for at, column in enumerate(names):
            if column not in self.categories:
                continue
            # 7.0 is "7", and in the CSV that is made of such a column "7.0".
            known = enumerate(self.categories[column])
            code = {text: code for code, value in known for text in (str(value), category_text(value))}
            values, of_row = table.factorize(column)
            texts = [*map(category_text, values)]
            codes = np.array([*(code.get(text, np.nan) for text in texts), np.nan], dtype=np.float32)[of_row]
            if (other := np.isnan(codes) & (of_row >= 0)).any():
                row = int(other.argmax())
                text = quote(texts[of_row[row]])
                if self.unseen == "error":
                    raise ValueError(
                        f"column {quote(column)} is {text} in {table.place(row)}, none of its categories in training "
                        f"({listed(self.categories[column], 5)}): make it one of these, or give unseen='missing'"
                    )
                others.append(f"{counted(int(other.sum()), 'row')} of column {quote(column)}, such as {text}")
            features[:, at] = codes
        if others:
            warn(f"categories that training did not have count as missing: {'; '.join(others)}")
        return features

    def frame(self, features: Any) -> Any:
        """Features as an engine takes them: a pandas frame with names and categories; without names as they are.

        The frame shares the memory of the features if none is categorical.
        """
        import pandas as pd

        if not self.features:
            return features
        frame = pd.DataFrame(features, columns=list(self.features), copy=False)
        for at, name in enumerate(self.features):
            # XGBoost 3.4 refuses a category without values, whose column is missing anyway.
            if values := self.categories.get(name):
                codes = np.nan_to_num(features[:, at], nan=-1).astype(np.int64)
                frame.isetitem(at, pd.Categorical.from_codes(codes, list(values)))
        return frame

    def read(
        self, data: Any, y: Any = None, *, name: str = "df", optional: bool = True, **arrays: Any
    ) -> Collection:
        """Further data, as `Columns.read`; where `optional`, columns that only label the documents may lack."""
        table = open_table(data, name, self.text)
        # Before a text in another column, of which the queries are made, is taken for a feature.
        if table.is_named and arrays.get("group") is None and arrays.get("qid") is None:
            table.check(self.columns.query, "query")
        features = self.transform(table)  # which are refused before labels, as scikit-learn does
        queries, documents, rows = self.columns.read_labels(table, y, optional=optional, **arrays)
        names, categories = self.features or self.columns.features_of(table), self.categories
        if not table.is_named:
            names, categories = (), {}
        if rows is not None:
            features = features[rows]
        return Collection(features, queries, documents, names or None, categories, rows)


def _read_column(table: Table, role: str, column: str) -> Any:
    """A column as an array of its role's type: numbers, texts or both."""
    if role == "document":
        names, of_row = table.factorize(column)
        return np.array([*map(category_text, names), ""], dtype=object)[of_row]
    if role in REMEDIES:
        given = table.numbers([column], REMEDIES[role])[:, 0]
    elif role == "query":
        given = table.values(column)
    else:
        given = table.column(column)

    # Positions are 0 in LETOR text where they are absent, and ranks where every text is a number, as in CSV.
    if role == "position" and table.format == "letor":
        given = np.where(np.asarray(given) == 0, np.nan, given)
    elif role == "position" and table.series(column).dtype == nw.String:
        texts = table.values(column)
        ranks = parse_numbers(texts)
        is_name = np.isnan(ranks) & ~is_missing(texts)
        if not is_name.any():
            given = ranks
        elif not np.isnan(ranks).all():
            row, remedy = int(is_name.argmax()), f"other rows have numbers; {ONE_KIND}"
            raise RowError(f"column {quote(column)}", row, f"is {quote(texts[row])}", remedy)
    return CONVERT[role](f"column {quote(column)}", given)


def plain_category(value: Any) -> Any:
    """A category as engines and JSON take it: a text or a number; intervals, dates and the like are their text."""
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic) and isinstance(value.item(), str | bool | int | float):
        return value.item()
    return category_text(value)
