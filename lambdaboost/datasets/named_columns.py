"""`NamedColumns`: the columns of a table that hold its queries and label sources, known by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from lambdaboost._checks import check_new_source, saying
from lambdaboost._words import plain
from lambdaboost.datasets.categories import Categories
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.columns import sizes_of, sources_by_name
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.datasets.tables import Table, as_frame, remedy_of_index

QID, POSITION = "qid", "position"
TABLE = "give a pandas, polars or pyarrow table"


class Rows(NamedTuple):
    """The rows of a data set: features, documents of each query, further label sources by name, and positions."""

    features: Any
    sizes: Any
    sources: dict[str, Any] | None
    position: Any = None


@dataclass(frozen=True)
class NamedColumns:
    """The column of the queries, the column of each label source, and the column of the positions.

    >>> import pandas as pd
    >>> columns = NamedColumns("srch_id", {"clicks": "ctr"})
    >>> X = pd.DataFrame({"srch_id": [7, 7, 8], "bm25": [0.5, 0.1, 0.3], "ctr": [0.0, 1.0, 0.0]})
    >>> rows = columns.split("X", X)
    >>> list(rows.features), rows.sizes.tolist(), list(rows.sources)
    (['bm25'], [2, 1], ['clicks'])
    """

    query: str = QID
    sources: Mapping[str, str] = field(default_factory=dict)
    position: str | None = None

    @classmethod
    def read(cls, query: Any, sources: Any, position: Any = None) -> NamedColumns:
        """The columns of an estimator's parameters: `sources` is a list of columns, a dict of them by name, or None.

        Raises
        ------
        TypeError, ValueError
            If a name is not a string or is reserved, or a column has two uses.

        """
        if not isinstance(query, str):
            raise TypeError(f"query is {query!r}: give the name of the column that holds the queries")
        if isinstance(sources, str) or not isinstance(sources, Iterable | None):
            such_as = sources if isinstance(sources, str) else "clicks"
            raise TypeError(
                f"sources is {sources!r}: give a list of columns, such as [{such_as!r}], or a dict of columns by name"
            )
        if not isinstance(position, str | None):
            raise TypeError(f"position is {position!r}: give the name of the column that holds the positions")
        by_name = (
            sources.items() if isinstance(sources, Mapping) else ((name, name) for name in sources or ())
        )
        pairs = list(by_name)
        for name, column in pairs:
            check_new_source(name)
            if not isinstance(column, str):
                raise TypeError(f"sources[{name!r}] is {column!r}: give the name of a column of X")
        used = [query, position, *(column for _, column in pairs)]
        if twice := [column for column in used if used.count(column) > 1]:
            raise ValueError(
                f"column {twice[0]!r} is named twice by query=, sources= and position=: a column has one use; name it "
                "once"
            )
        return cls(query, dict(pairs), position)

    @classmethod
    def of(cls, estimator: Any) -> NamedColumns:
        """The columns that a ranker names, also as the last step of a pipeline or within a search."""
        while (inner := _inner(estimator)) is not None:
            estimator = inner
        names = (getattr(estimator, name, None) for name in ("sources", "position"))
        return cls.read(getattr(estimator, "query", QID), *names)

    def features(self, X: Any, order: Sequence[Any] | None = None, name: str = "X") -> Any:
        """The features of X: a table without the named columns; with `order`, these columns in this order.

        Messages call the data `name`.

        Raises
        ------
        ValueError
            If X is a table and lacks a column of `order`.

        """
        if (frame := as_frame(name, X)) is None:
            return X
        own, names = {self.query, *self.sources.values(), self.position}, list(frame.columns)
        kept = [column for column in names if column not in own] if order is None else list(order)
        if missing := [column for column in kept if column not in names]:
            raise ValueError(
                f"{name} has no column {_unknown(missing[0], names)}, a feature of the training data: add it"
            )
        return (frame if kept == names else frame[:, [names.index(column) for column in kept]]).to_native()

    def query_of_row(self, name: str, X: Any, group: Any = None, qid: Any = None) -> Any:
        """The query of each row, from `qid` or the column of X; None if neither is there; raises if both are."""
        column = _column(X, self.query)
        if column is not None and not (group is None and qid is None):
            raise ValueError(
                f"{name} has a column {self.query!r}, and group or qid is also given: give the queries once, or "
                "rename the column"
            )
        return qid if column is None else column

    def split(
        self,
        name: str,
        X: Any,
        group: Any = None,
        qid: Any = None,
        sources: Any = None,
        position: Any = None,
        *,
        needed: Iterable[str] = (),
        order: Sequence[Any] | None = None,
    ) -> Rows:
        """Split data, which messages call `name`, into features, queries, label sources and positions.

        Queries, sources and positions may also be given beside X. `needed` are the sources that must be there, also
        ``"position"``; `order` are the features, as in `features`.

        Raises
        ------
        TypeError, ValueError
            If the queries, a source or the positions are missing or given twice, or two columns of X have the same
            name.

        """
        names, columns = names_in(X, name) or [], self._labels
        given = {} if sources is None else sources_by_name(sources)
        for source in given:
            check_new_source(source)
        given |= {} if position is None else {POSITION: position}
        for source, column in columns.items():
            if column in names and source in given:
                argument, what = _called(source)
                raise ValueError(
                    f"column {column!r} of {name} and the argument {argument}= both give {what}: give one of them"
                )
            given |= {source: _column(X, column)} if column in names else {}
        if missing := [source for source in needed if source not in given]:
            (argument, what), lacking = _called(missing[0]), columns.get(missing[0])
            raise ValueError(
                f"{name} has no {what}: name the column in {argument}= of the ranker"
                if lacking is None
                else f"{name} has no column {_unknown(lacking, names)}, which {argument}= names: {TABLE} with it"
            )
        query, before = self.query_of_row(name, X, group, qid), "eval_" if name.startswith("eval") else ""
        if query is None and group is None:
            frame = as_frame(name, X)
            meant = remedy_of_index(name, frame, self.query) if frame is not None else ""
            meant = meant or (
                f"{TABLE} with the column that query= names, or the queries as {before}group= or {before}qid="
            )
            raise ValueError(f"{name} has no column {_unknown(self.query, names)}: {meant}")
        features = self.features(X, order, name)
        if names and not names_in(features):
            raise ValueError(
                f"{name} has no features: query=, sources= and position= name all of its columns; add others"
            )
        of_query = f"column {self.query!r} of {name}" if self.query in names else f"{before}qid"
        sizes, position = (
            sizes_of(group, query, getattr(X, "shape", (None,))[0], of_query),
            given.pop(POSITION, None),
        )
        return Rows(features, sizes, given or None, position)

    def split_training(self, X: Any, *beside: Any, order: Sequence[Any] | None = None) -> Rows:
        """Split training data, in which every named column must be there; as `split`."""
        return self.split("X", X, *beside, needed=self._labels, order=order)

    def collection(
        self, name: str, X: Any, y: Any, *beside: Any, weight: Any = None, like: Collection | None = None
    ) -> Collection:
        """The data as a `Collection`; `beside` are queries, sources and positions as of `split`.

        Validation data have the features and the categories of the training data, `like`.
        """
        if getattr(X, "shape", (1,))[0] == 0:
            raise ValueError(f"{name} has no rows: give those of one query at least")
        if isinstance(y, str):
            raise TypeError(
                f"the grades of {name} are {plain(repr(y))}: give an array of them, not the name of a column, and drop "
                "that column from the features"
            )
        order = None if like is None else like.feature_names
        rows = self.split(name, X, *beside, needed=self._labels if like is None else (), order=order)
        with saying(name):
            q = Queries(y, rows.sizes, position=rows.position, weight=weight, **(rows.sources or {}))
            return _collected(rows.features, q, None if like is None else like.categories)

    def scored(
        self, X: Any, y: Any, measure: Any, group: Any = None, qid: Any = None, weight: Any = None
    ) -> Queries:
        """The queries of X with grades y, and the label sources and positions that a measure reads."""
        needed = [source for source in measure.sources if source != RELEVANCE]
        positions = [POSITION] if measure.reads_positions else []
        rows = self.split("X", X, group, qid, needed=[*needed, *positions])
        labels = {name: (rows.sources or {})[name] for name in needed}
        return Queries(y, rows.sizes, weight=weight, position=rows.position, **labels)

    @property
    def _labels(self) -> dict[str, str]:
        """The columns of the sources, and of the positions under a name that no source can have."""
        return {**self.sources, **({} if self.position is None else {POSITION: self.position})}


def _collected(features: Any, q: Queries, categories: Categories | None) -> Collection:
    """The features with their queries; a table's categories are its own, unless they are given."""
    if as_frame("X", features) is None:
        from sklearn.utils import check_array  # which takes a second to import

        kinds = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "ensure_all_finite": False}
        return Collection(check_array(features, **kinds), q)
    table = Table.of(features)
    categories = table.categories(table.names) if categories is None else categories
    matrix = table.matrix(table.names, "drop it", categories)
    return Collection(matrix, q, feature_names=table.names, categories=categories)


def names_in(X: Any, name: str = "X") -> list[Any] | None:
    """The names of the columns of a pandas, polars or pyarrow table; None for anything else."""
    frame = as_frame(name, X)
    return None if frame is None else list(frame.columns)


def _column(X: Any, name: Any) -> Any:
    """A column of a table, of the table's own type; None if there is none."""
    frame = as_frame("X", X)
    if frame is None or name not in frame.columns:
        return None
    return frame[:, frame.columns.index(name)].to_native()


def _unknown(column: Any, names: list[Any]) -> str:
    """A column that is not there, with the one that was probably meant."""
    close = get_close_matches(str(column), [name for name in names if isinstance(name, str)], 1)
    return f"{column!r} (did you mean {close[0]!r}?)" if close else repr(column)


def _called(source: str) -> tuple[str, str]:
    """The parameter that names the column of a source or of the positions, and what messages call these."""
    return (POSITION, "positions") if source == POSITION else ("sources", f"label source {source!r}")


def _inner(estimator: Any) -> Any:
    """The last step of a pipeline, or the estimator of a search; None for a ranker."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if isinstance(steps, list) and steps else getattr(estimator, "estimator", None)
