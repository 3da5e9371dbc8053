"""`ClickLog`: impressions and clicks by query, document and position."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_number, refuse_labels
from lambdaboost._words import counted, quote
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.datasets.arrays import (
    Positions,
    as_floats,
    check_order,
    factorize_in_order,
    positions_of,
    query_ids,
    weights_of,
)
from lambdaboost.datasets.table import open_table

COLUMNS = ("query", "document", "position", "clicked", "weight", "session")


@dataclass(frozen=True, eq=False)
class Counts:
    """Impressions and clicks of each document at each position where it was shown; arrays of shape (n,)."""

    index: NDArray[np.int64]  # the document's place in `ClickLog.documents`, ascending
    position: NDArray[np.int32]  # ascending for each document
    impressions: NDArray[np.float64]  # the sum of the weights of the rows
    clicks: NDArray[np.float64]  # of those that were clicked
    query_of_document: NDArray[np.int64]  # (n_documents,) from 0
    n_positions: int
    names: tuple[str, ...] | None  # the categories of the positions

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.query_of_document.size

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.query_of_document.max()) + 1

    def by_position(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of values of the rows at each position, float64 (n_positions,)."""
        return np.bincount(self.position - 1, values, minlength=self.n_positions).astype(np.float64)

    def by_document(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of values of the rows of each document, float64 (n_documents,)."""
        return np.bincount(self.index, values, minlength=self.n_documents).astype(np.float64)


class Sessions(NamedTuple):
    """Sessions as lists: the queries, and the keys of each row, by which features can be joined."""

    queries: Queries
    query: NDArray[Any]
    document: NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ClickLog:
    """Impressions of documents and whether they were clicked; immutable.

    A row is one document in one session, clicked or not. For counts of impressions and clicks, give two rows for each
    (query, document, position): one clicked with the clicks as its weight, one not clicked with the rest.

    Parameters
    ----------
    query, document : array of shape (n_rows,)
        The query and the document of each row: whole numbers, strings, … The two together identify a document.
    position : array of shape (n_rows,)
        Where it was shown: its rank from 1, or any other bias factor as text or categorical.
    clicked : array of shape (n_rows,)
        Whether it was clicked: bool, or 0 and 1.
    weight : array of shape (n_rows,), optional
        The number of impressions for which a row stands; finite and ≥ 0.
    session : array of shape (n_rows,), optional
        The session of each row, one result page of one query, for `sessions`.

    Attributes
    ----------
    position : int32 (n_rows,)
        The rank of each row, or the code of its category, from 1.
    position_names : tuple of str, or None
        The category of each code; None for ranks.

    Examples
    --------
    >>> log = ClickLog(["a", "a", "a", "a"], [7, 8, 8, 7], [1, 2, 1, 2], [1, 0, 1, 0], session=[0, 0, 1, 1])
    >>> log
    ClickLog(4 impressions of 2 documents in 1 query at 2 positions; 2 clicks)
    >>> log.labels(["a", "a", "b"], [7, 8, 8])
    array([0.5, 0.5, nan])
    >>> log.labels(["a"], [7], propensities=Propensities([1.0, 0.5])).round(3)
    array([0.667])

    """

    query: NDArray[Any]
    document: NDArray[Any]
    position: NDArray[np.int32]
    position_names: tuple[str, ...] | None
    clicked: NDArray[np.bool_]
    weight: NDArray[np.float32] | None
    session: NDArray[Any] | None

    def __init__(
        self,
        query: ArrayLike,
        document: ArrayLike,
        position: ArrayLike | Positions,
        clicked: ArrayLike,
        weight: ArrayLike | None = None,
        session: ArrayLike | None = None,
    ) -> None:
        given = {"document": document, "position": position, "clicked": clicked}
        for name, of_rows in {**given, "weight": weight, "session": session}.items():
            check_order(name, of_rows, "query", query)
        keys = {"query": query, "document": document, "session": session}
        columns: dict[str, Any] = {
            name: query_ids(name, key, name).copy() for name, key in keys.items() if key is not None
        }
        was_clicked = as_floats("clicked", clicked)
        neither = (was_clicked != 0) & (was_clicked != 1)
        refuse_labels(
            "clicked", was_clicked, neither, "give 0 or 1; for counts of clicks give rows with a weight"
        )
        columns["clicked"] = was_clicked == 1
        if weight is not None:
            columns["weight"] = weights_of("weight", weight)
        columns["position"], names = positions_of("position", position)
        if (n := columns["query"].size) == 0:
            raise ValueError("query is empty: a log needs at least one impression")
        for name, column in columns.items():
            if column.shape != (n,):
                raise ValueError(f"{name} has shape {column.shape}, expected ({n},), a value for each query")
            column.flags.writeable = False
        if not columns["position"].all():
            row = int(np.argmin(columns["position"]))
            raise ValueError(
                f"position is missing in row {row}: a log holds what was shown; leave out rows that were not"
            )
        self.__dict__.update({"weight": None, "session": None}, **columns, position_names=names)

    def __repr__(self) -> str:
        counts = self.counts()
        return (
            f"ClickLog({counted(round(counts.impressions.sum()), 'impression')} of "
            f"{counted(self.n_documents, 'document')} in {counted(counts.n_queries, 'query', 'queries')} at "
            f"{counted(np.unique(counts.position).size, 'position')}; {counted(round(counts.clicks.sum()), 'click')})"
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        query: str,
        document: str,
        position: str,
        clicked: str,
        weight: str | None = None,
        session: str | None = None,
    ) -> Self:
        """A log from the columns of a pandas, polars or pyarrow table, by their names."""
        table, columns = open_table(frame, "frame"), {}
        if not table.is_named:
            raise TypeError(
                f"frame must be a pandas, polars or pyarrow table, got {type(frame).__name__}: convert it first"
            )
        names = (query, document, position, clicked, weight, session)
        for argument, name in zip(COLUMNS, names, strict=True):
            if name is not None:
                table.check(name, f"{argument}={name!r}")
                columns[argument] = table.column(name)
        return cls(**columns)

    def take(self, rows: ArrayLike) -> Self:
        """The log of some rows, given by index or mask, such as those of one week."""
        chosen = np.arange(self.n_rows)[np.atleast_1d(rows)]
        columns = ((name, getattr(self, name)) for name in COLUMNS if name != "position")
        taken: dict[str, Any] = {name: column[chosen] for name, column in columns if column is not None}
        return type(self)(position=Positions(self.position[chosen], self.position_names), **taken)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.query.size

    @property
    def n_positions(self) -> int:
        """The largest rank, or the number of categories."""
        if self.position_names is None:
            return int(self.position.max())
        return len(self.position_names)

    @property
    def n_documents(self) -> int:
        """Number of different documents; a document of two queries counts twice."""
        return self._documents[1].size

    @property
    def documents(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The query and the document of each of the ``n_documents`` documents, in order of first appearance."""
        first = self._documents[1]
        return self.query[first], self.document[first]

    @property
    def document_of_row(self) -> NDArray[np.int64]:
        """Index of each row's document in `documents`, shape (n_rows,)."""
        return self._documents[0]

    @cached_property
    def query_of_row(self) -> NDArray[np.int64]:
        """Number of each row's query from 0, in order of first appearance, shape (n_rows,)."""
        return factorize_in_order(self.query)[0]

    @cached_property
    def _documents(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of each row's document, one of two queries being two, and the first row of each."""
        of_row, first = factorize_in_order(self.document)
        return factorize_in_order(self.query_of_row * first.size + of_row)

    def counts(self) -> Counts:
        """Impressions and clicks of each document at each position where it was shown."""
        return self._counts

    @cached_property
    def _counts(self) -> Counts:
        import pandas as pd

        # By hash, which is several times as fast as sorting all rows.
        place, cells = pd.factorize(self.document_of_row * self.n_positions + self.position - 1, sort=False)
        order = np.argsort(cells, kind="stable")
        weight = np.ones(self.n_rows)
        if self.weight is not None:
            weight = self.weight.astype(np.float64)
        impressions, clicks = (
            np.bincount(place, values, minlength=cells.size)[order].astype(np.float64)
            for values in (weight, np.where(self.clicked, weight, 0.0))
        )
        index, at = np.divmod(np.asarray(cells)[order], self.n_positions)
        query, position = self.query_of_row[self._documents[1]], (at + 1).astype(np.int32)
        return Counts(index, position, impressions, clicks, query, self.n_positions, self.position_names)

    def labels(
        self,
        query: ArrayLike,
        document: ArrayLike,
        smoothing: tuple[float, float] = (0.0, 0.0),
        propensities: Propensities | None = None,
    ) -> NDArray[np.float64]:
        """The click rate of each row of a data set, float64 (n,); NaN for documents that were never shown.

        (clicks + a) / (looks + a + b), at most 1. Looks are the impressions, or with `propensities` the sum of
        p(position) over them; the rate then estimates the probability of a click at the best position.

        Parameters
        ----------
        query, document : array of shape (n,)
            The keys of each row of the data set.
        smoothing : pair of float
            a and b, each ≥ 0: clicks, and looks without a click, that are added to every document. Without them,
            documents of weight 0 have NaN.
        propensities : Propensities, optional
            The curve to divide by.

        """
        remedy = "give two numbers ≥ 0, such as (1, 9)"
        if np.shape(smoothing) != (2,):
            raise ValueError(f"smoothing is {smoothing!r}: {remedy}")
        a, b = (check_number("smoothing", number, 0, remedy=remedy) for number in smoothing)
        counts, found = self.counts(), self.find(query, document)
        looks = counts.impressions
        if isinstance(propensities, Propensities):
            looks = looks * propensities.at_positions(Positions(counts.position, counts.names))
        elif propensities is not None:
            raise TypeError(f"propensities is {propensities!r}, expected Propensities([1, 0.5, …])")
        with np.errstate(invalid="ignore"):
            rate = (counts.by_document(counts.clicks) + a) / (counts.by_document(looks) + a + b)
        return np.where(found >= 0, np.clip(rate, 0.0, 1.0)[found], np.nan)

    def find(self, query: ArrayLike, document: ArrayLike) -> NDArray[np.int64]:
        """Index in `documents` of each (query, document), int64 (n,); −1 where it was never shown."""
        import pandas as pd

        sought = query_ids("query", query), query_ids("document", document, "document")
        if sought[0].shape != sought[1].shape or sought[0].ndim != 1:
            raise ValueError(
                f"query has shape {sought[0].shape}, document {sought[1].shape}: give one of each for every row"
            )
        for name, keys, here in zip(("query", "document"), sought, self.documents, strict=True):
            # Keys are texts throughout, or numbers throughout, or mixed.
            texts = [{isinstance(key, str) for key in a.tolist()} for a in (keys, here)]
            if {True} in texts and {False} in texts:
                given, logged = (quote(a[0]) if isinstance(a[0], str) else a[0] for a in (keys, here))
                raise TypeError(
                    f"{name} has {given}, and the log {logged}, text in one of them: none can match"
                )
        known = pd.MultiIndex.from_arrays(self.documents)
        return known.get_indexer(pd.MultiIndex.from_arrays(sought)).astype(np.int64)

    def rows_of(self, query: ArrayLike, document: ArrayLike) -> NDArray[np.int64]:
        """The row of a data set that holds each of `documents`, int64 (n_documents,), to take its features."""
        found = self.find(query, document)
        row = np.full(self.n_documents, -1)
        here = np.flatnonzero(found >= 0)
        row[found[here]] = here
        if (row < 0).any():
            of_query, name = (str(keys[np.argmin(row)]) for keys in self.documents)
            raise ValueError(
                f"document {name} of query {of_query} is not in the data set: take() the rows of the log whose "
                "documents have features"
            )
        return row

    def session_of_row(self) -> NDArray[np.int64]:
        """Number of each row's session from 0, in order of first appearance; raises where a session is not one list."""
        if self.session is None:
            raise ValueError("the log has no sessions: give session= to say which rows one user saw")
        code, first = factorize_in_order(self.session)
        if (other := self.query_of_row != self.query_of_row[first][code]).any():
            row = int(np.argmax(other))
            raise ValueError(
                f"session {self.session[row]!s} has two queries, {self.query[first][code[row]]!s} and "
                f"{self.query[row]!s}: give one session id for each list that was shown"
            )
        place = code * (self.n_positions + 1) + self.position
        order = np.argsort(place, kind="stable")
        if (again := place[order][1:] == place[order][:-1]).any():
            row = int(order[1:][again].min())
            raise ValueError(
                f"session {self.session[row]!s} has two rows at position {self.position[row]}: a session is one list"
            )
        return code

    def sessions(self) -> Sessions:
        """Each session as a list of its own, to train on single clicks; raises as `session_of_row`.

        The queries have positions, the clicks as relevance and as label source ``clicks``, and the weights; the id of
        a list is its session's number.
        """
        session = self.session_of_row()
        order = np.lexsort((self.position, session))
        clicked, weight = self.clicked[order].astype(np.float32), self.weight
        if weight is not None:
            weight = weight[order]
        queries = Queries(
            clicked,
            ids=session[order],
            weight=weight,
            position=Positions(self.position[order], self.position_names),
            clicks=clicked,
        )
        return Sessions(queries, self.query[order], self.document[order])
