"""`NamedColumns`: the columns of a data frame that hold its queries and label sources, known by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

from lambdaboost.datasets._checks import check_source_name
from lambdaboost.datasets.columns import sizes_of, sources_by_name

QID = "qid"


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
        if isinstance(sources, str):
            raise TypeError(f"sources is the string {sources!r}: give a list, such as [{sources!r}]")
        if not isinstance(sources, Mapping | Iterable | None):
            raise TypeError(f"sources is {sources!r}: give a list of columns, or a dict of columns by name")
        pairs = list(
            sources.items() if isinstance(sources, Mapping) else ((name, name) for name in sources or ())
        )
        if not isinstance(position, str | None):
            raise TypeError(f"position is {position!r}: give the name of the column that holds the positions")
        used = [query] if position is None else [query, position]
        if position == query:
            raise ValueError(f"column {query!r} is named by query= and position=: a column has one use")
        for name, column in pairs:
            check_source_name(name)
            if not isinstance(column, str):
                raise TypeError(f"sources[{name!r}] is {column!r}: give the name of a column of X")
            if column in used:
                raise ValueError(
                    f"column {column!r} is named twice by query=, sources= and position=: a column has one use; "
                    "name it once"
                )
            used.append(column)
        return cls(query, dict(pairs), position)

    @classmethod
    def of(cls, estimator: Any) -> NamedColumns:
        """The columns that a ranker names, also as the last step of a pipeline or within a search."""
        while (inner := _inner(estimator)) is not None:
            estimator = inner
        names = (getattr(estimator, name, None) for name in ("sources", "position"))
        return cls.read(getattr(estimator, "query", QID), *names)

    def features(self, X: Any, order: Sequence[Any] | None = None) -> Any:
        """The features of X: a frame without the named columns; with `order`, these columns in this order.

        Raises
        ------
        ValueError
            If X is a frame and lacks a column of `order`.

        """
        names = _names(X)
        there = [name for name in (self.query, *self.sources.values(), self.position) if name in names]
        if there:
            X = X.drop(columns=there) if hasattr(X, "iloc") else X.drop(there)
            names = _names(X)
        if order is None or not names or names == list(order):
            return X
        if missing := [name for name in order if name not in names]:
            raise ValueError(
                f"X has no column {missing[0]!r}{_meant(missing[0], names)}, a feature that the ranker was fitted on: "
                "add it"
            )
        return X[list(order)]

    def query_of_row(self, name: str, X: Any, group: Any, qid: Any) -> Any:
        """The query of each row, from `qid` or the column of X; None if neither is there; raises if both are."""
        if self.query not in _names(X):
            return qid
        if group is not None or qid is not None:
            raise ValueError(
                f"{name} has a column {self.query!r}, and group or qid is also given: give the queries once, or "
                "rename the column"
            )
        return X[self.query]

    def split_training(
        self, X: Any, group: Any = None, qid: Any = None, sources: Any = None, position: Any = None
    ) -> Rows:
        """Split training data, in which every named column must be there; as `split`."""
        return self.split(
            "X",
            X,
            group,
            qid,
            sources,
            position,
            needed=self.sources,
            needs_position=self.position is not None,
        )

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
        needs_position: bool = False,
        order: Sequence[Any] | None = None,
    ) -> Rows:
        """Split data into features, queries, label sources and positions.

        Parameters
        ----------
        name : str
            What messages call X.
        X, group, qid, sources, position
            The data, and the queries, further sources and positions given beside them.
        needed : iterable of str
            The label sources that must be there.
        needs_position : bool
            Whether positions must be there.
        order : sequence, optional
            The features, as in `features`.

        Raises
        ------
        TypeError, ValueError
            If the queries, a source or the positions are missing or given twice, or two columns of X have the same
            name.

        """
        names = _names(X)
        if len(set(names)) < len(names):
            twice = next(column for column in names if names.count(column) > 1)
            raise ValueError(f"{name} has two columns {twice!r}: rename one")
        labels = self._labels(name, X, names, sources)
        for source in needed:
            if source not in labels:
                self._refuse(name, names, source)
        position = self._position(name, X, names, position)
        if needs_position and position is None:
            self._refuse_without_position(name, names)
        rows = self.query_of_row(name, X, group, qid)
        before = "eval_" if name.startswith("eval") else ""
        if rows is None and group is None:
            raise ValueError(
                f"{name} has no column {self.query!r}{_meant(self.query, names)}: give a pandas or polars DataFrame "
                f"with the column that query= names, or the queries as {before}group= or {before}qid="
            )
        column = f"column {self.query!r} of {name}" if self.query in names else f"{before}qid"
        sizes = sizes_of(group, rows, getattr(X, "shape", (None,))[0], column)
        features = self.features(X, order)
        if names and not _names(features):
            raise ValueError(
                f"{name} has no features: query=, sources= and position= name all of its columns; add others"
            )
        return Rows(features, sizes, labels or None, position)

    def _position(self, name: str, X: Any, names: list[Any], position: Any) -> Any:
        if self.position is None or self.position not in names:
            return position
        if position is not None:
            raise ValueError(
                f"positions are given twice, as column {self.position!r} of {name} and in the argument position=: "
                "give them once"
            )
        return X[self.position]

    def _refuse_without_position(self, name: str, names: list[Any]) -> None:
        if self.position is None:
            raise ValueError(
                f"{name} has no positions: name their column, as in position='rank' of the ranker"
            )
        raise ValueError(
            f"{name} has no column {self.position!r}{_meant(self.position, names)}, which position= names: give a "
            "pandas or polars DataFrame with it"
        )

    def _labels(self, name: str, X: Any, names: list[Any], sources: Any) -> dict[str, Any]:
        labels = {} if sources is None else sources_by_name(sources)
        for source, column in self.sources.items():
            if column not in names:
                continue
            if source in labels:
                raise ValueError(
                    f"source {source!r} is given twice, as column {column!r} of {name} and in the argument sources=: "
                    "give it once"
                )
            labels[source] = X[column]
        return labels

    def _refuse(self, name: str, names: list[Any], source: str) -> None:
        column = self.sources.get(source)
        if column is None:
            raise ValueError(
                f"{name} has no label source {source!r}: name its column, as in sources=[{source!r}] of the ranker"
            )
        raise ValueError(
            f"{name} has no column {column!r}{_meant(column, names)}, which sources= names: give a pandas or polars "
            "DataFrame with it"
        )


def names_in(X: Any) -> list[Any] | None:
    """The names of the features of a pandas or polars frame; None for anything else."""
    return _names(X) or None


def _names(X: Any) -> list[Any]:
    """The names of the columns of a pandas or polars frame; none for anything else, an Arrow table included."""
    if hasattr(X, "collect"):
        raise TypeError(f"X is a {type(X).__name__}: collect it first, as in X.collect()")
    return [] if hasattr(X, "column_names") else list(getattr(X, "columns", ()))


def _meant(column: Any, names: list[Any]) -> str:
    close = get_close_matches(str(column), [name for name in names if isinstance(name, str)], 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _inner(estimator: Any) -> Any:
    """The last step of a pipeline, or the estimator of a search; None for a ranker."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if isinstance(steps, list) and steps else getattr(estimator, "estimator", None)
