"""`ClickLog`: impressions and clicks by query, document and position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.clicks._keys import Keys, codes_of, index_of
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.datasets._given import numbers, query_ids, weights_of
from lambdaboost.datasets.positions import Positions, positions_of

Smoothing = tuple[float, float]


class Sessions(NamedTuple):
    """Sessions as lists: the queries, and the keys of each row, by which features can be joined."""

    queries: Queries
    query: NDArray[Any]
    document: NDArray[Any]


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
        The session of each row, for click models and `sessions`; one result page of one query.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid; names it, the first invalid row, and what is expected.

    Examples
    --------
    >>> log = ClickLog(["a", "a", "a", "a"], [7, 8, 8, 7], [1, 2, 1, 2], [1, 0, 1, 0], session=[0, 0, 1, 1])
    >>> log
    ClickLog(4 impressions of 2 documents in 1 query at 2 positions; 2 clicks)
    >>> log.rates()
    array([0.5, 0.5])
    >>> log.rates(propensities=Propensities([1.0, 0.5])).round(3)
    array([0.667, 0.667])

    """

    __slots__ = ("__weakref__", "_memo", "clicked", "document", "positions", "query", "session", "weight")

    query: NDArray[Any]
    document: NDArray[Any]
    positions: Positions
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
        columns: dict[str, Any] = {
            "query": query_ids("query", query).copy(),
            "document": query_ids("document", document, "document").copy(),
            "positions": positions_of("position", position),
            "clicked": _clicked(clicked),
            "weight": None if weight is None else weights_of("weight", weight),
            "session": None if session is None else query_ids("session", session, "session").copy(),
        }
        if columns["query"].ndim != 1:
            raise ValueError(
                f"query has shape {columns['query'].shape}, expected one dimension: one value for each row"
            )
        n = columns["query"].size
        if n == 0:
            raise ValueError("query is empty: a log needs at least one impression")
        for name, column in columns.items():
            given = column.codes if isinstance(column, Positions) else column
            if given is not None and given.shape != (n,):
                called = "position" if name == "positions" else name
                raise ValueError(
                    f"{called} has shape {given.shape}, query has {n} rows: give one value for each row"
                )
        codes = columns["positions"].codes
        if not codes.all():
            row = int(np.argmin(codes))
            raise ValueError(
                f"position is missing in row {row}: a log holds what was shown; leave out rows that were not"
            )
        self._set(columns)

    def _set(self, columns: dict[str, Any]) -> None:
        set_ = object.__setattr__
        for name, column in columns.items():
            if isinstance(column, np.ndarray):
                column = column.view()
                column.flags.writeable = False
            set_(self, name, column)
        set_(self, "_memo", {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ClickLog is immutable: make a new one to set {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.query, self.document, self.positions, self.clicked, self.weight, self.session
        )  # fmt: skip

    def __repr__(self) -> str:
        def count(n: float, of: str, more: str) -> str:
            return f"{n:.0f} {of if n == 1 else more}"

        counts = self.counts()
        return (
            f"ClickLog({count(counts.impressions.sum(), 'impression', 'impressions')} of "
            f"{count(self.n_documents, 'document', 'documents')} in {count(self.n_queries, 'query', 'queries')} at "
            f"{count(np.unique(counts.position).size, 'position', 'positions')}; "
            f"{count(counts.clicks.sum(), 'click', 'clicks')})"
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
        """A log from the columns of a pandas or polars frame, by their names.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"q": ["a", "a"], "url": ["x", "y"], "rank": [1, 2], "click": [True, False]})
        >>> ClickLog.from_frame(frame, query="q", document="url", position="rank", clicked="click")
        ClickLog(2 impressions of 2 documents in 1 query at 2 positions; 1 click)
        """
        if type(frame).__name__ != "DataFrame" or not hasattr(frame, "columns"):
            raise TypeError(
                f"frame must be a pandas or polars DataFrame, got {type(frame).__name__}: collect or convert it first"
            )
        names = {
            "query": query, "document": document, "position": position, "clicked": clicked, "weight": weight,
            "session": session,
        }  # fmt: skip
        known = list(frame.columns)
        for argument, name in names.items():
            if name is not None and name not in known:
                raise ValueError(
                    f"{argument}={name!r}: the frame has no such column; choose among {', '.join(map(str, known))}"
                )
        return cls(**{argument: frame[name] for argument, name in names.items() if name is not None})

    def take(self, rows: ArrayLike) -> Self:
        """The log of some rows, given by index or mask, such as those of one week."""
        kept = type(self).__new__(type(self))
        given = np.asarray(rows)
        if given.size == 0 or (given.dtype == np.bool_ and not given.any()):
            raise ValueError("rows chooses no row: a log needs at least one impression")
        try:
            chosen = np.arange(self.n_rows)[given.reshape(-1) if given.ndim == 0 else given]
        except IndexError as error:
            raise ValueError(
                f"rows does not fit the {self.n_rows} rows of the log, give their indices or a mask: {error}"
            ) from None
        if chosen.ndim != 1:
            raise ValueError(
                f"rows has shape {given.shape}, expected one dimension: indices of rows or a mask"
            )
        kept._set(
            {
                "query": self.query[chosen],
                "document": self.document[chosen],
                "positions": self.positions.take(chosen),
                "clicked": self.clicked[chosen],
                "weight": None if self.weight is None else self.weight[chosen],
                "session": None if self.session is None else self.session[chosen],
            }
        )
        return kept

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.query.size

    @property
    def position(self) -> NDArray[np.int32]:
        """The rank of each row, or the code of its category, from 1."""
        return self.positions.codes

    @property
    def position_names(self) -> tuple[str, ...] | None:
        """The categories of the codes 1, 2, …; None for ranks."""
        return self.positions.names

    @property
    def n_positions(self) -> int:
        """The largest rank, or the number of categories."""
        names = self.positions.names
        return int(self.position.max()) if names is None else len(names)

    @property
    def n_queries(self) -> int:
        """Number of different queries."""
        return self._keys.n_queries

    @property
    def n_documents(self) -> int:
        """Number of different documents; a document of two queries counts twice."""
        return self._keys.query.size

    @property
    def documents(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The query and the document of each of the ``n_documents`` documents, in order of first appearance."""
        return self.query[self._keys.first_row], self.document[self._keys.first_row]

    @property
    def document_of_row(self) -> NDArray[np.int64]:
        """Index of each row's document in `documents`, shape (n_rows,)."""
        return self._keys.of_row

    @property
    def query_of_row(self) -> NDArray[np.int64]:
        """Number of each row's query from 0, in order of first appearance, shape (n_rows,)."""
        return self._keys.query_of_row

    @property
    def _keys(self) -> Keys:
        return self._remembered("keys", lambda: Keys.of(self.query, self.document))

    def _remembered(self, name: str, build: Callable[[], Any]) -> Any:
        memo: dict[str, Any] = self._memo  # type: ignore[attr-defined]
        return memo[name] if name in memo else memo.setdefault(name, build())

    def counts(self) -> Counts:
        """Impressions and clicks of each document at each position where it was shown."""
        return self._remembered(
            "counts",
            lambda: Counts.of(
                self._keys, self.query, self.document, self.positions, self.clicked, self.weight
            ),
        )

    def rates(
        self, smoothing: Smoothing = (0.0, 0.0), propensities: Propensities | None = None
    ) -> NDArray[np.float64]:
        """The click rate of each document, float64 (n_documents,), in the order of `documents`.

        (clicks + a) / (looks + a + b), at most 1. Looks are the impressions, or with `propensities` the sum of
        p(position) over them; the rate then estimates the probability of a click at the best position.

        Parameters
        ----------
        smoothing : pair of float
            a and b ≥ 0 of a Beta prior: clicks, and looks without a click, added to every document.
        propensities : Propensities, optional
            The probability that an impression at each position is looked at.

        Returns
        -------
        float64 array of shape (n_documents,)
            Rates in [0, 1]; NaN for a document whose rows all have weight 0.

        """
        return self.counts().rates(smoothing, propensities)

    def labels(
        self,
        query: ArrayLike,
        document: ArrayLike,
        smoothing: Smoothing = (0.0, 0.0),
        propensities: Propensities | None = None,
    ) -> NDArray[np.float64]:
        """The click rates as a label of the rows of a data set, NaN for documents that were never shown.

        Parameters
        ----------
        query, document : array of shape (n,)
            The keys of the rows of the data set.
        smoothing, propensities
            As of `rates`.

        Returns
        -------
        float64 array of shape (n,)

        Examples
        --------
        >>> log = ClickLog([1, 1], ["x", "y"], [1, 2], [1, 0])
        >>> log.labels([1, 1, 2], ["y", "x", "x"])
        array([ 0.,  1., nan])

        """
        return self.aligned(self.rates(smoothing, propensities), query, document)

    def aligned(
        self, values: ArrayLike, query: ArrayLike, document: ArrayLike, missing: float = np.nan
    ) -> NDArray[np.float64]:
        """Values of `documents`, (n_documents,), for the rows of a data set; `missing` where the log has none."""
        of_document = np.asarray(values, dtype=np.float64)
        if of_document.shape != (self.n_documents,):
            raise ValueError(
                f"values has shape {of_document.shape}, expected ({self.n_documents},): one for each of documents"
            )
        found = self.find(query, document)
        return np.where(found >= 0, of_document[found], missing)

    def find(self, query: ArrayLike, document: ArrayLike) -> NDArray[np.int64]:
        """Index in `documents` of each (query, document), int64 (n,); −1 where it was never shown."""
        of_query, of_document = query_ids("query", query), query_ids("document", document, "document")
        if of_query.shape != of_document.shape or of_query.ndim != 1:
            raise ValueError(
                f"query has shape {of_query.shape}, document {of_document.shape}: give one of each for every row"
            )
        known = self.documents
        for name, keys, here in zip(("query", "document"), (of_query, of_document), known, strict=True):
            if keys.size and {_is_text(keys), _is_text(here)} == {True, False}:
                given, logged = (
                    f"text, such as {a[0]!r}" if _is_text(a) else f"no text, such as {a[0]}"
                    for a in (keys, here)
                )
                raise TypeError(
                    f"{name} is {given}, and in the log {logged}, so that none matches: give the same type in both"
                )
        return index_of(known, of_query, of_document)

    def rows_of(self, query: ArrayLike, document: ArrayLike) -> NDArray[np.int64]:
        """The row of a data set that holds each of `documents`, int64 (n_documents,), to take its features.

        Raises
        ------
        ValueError
            If a document of the log is not in the data set.

        """
        found = self.find(query, document)
        row = np.full(self.n_documents, -1)
        here = np.flatnonzero(found >= 0)
        row[found[here]] = here
        if (row < 0).any():
            at = int(np.argmin(row))
            which = f"document {self.documents[1][at]!s} of query {self.documents[0][at]!s}"
            raise ValueError(
                f"{which} is not in the data set: take() the rows of the log whose documents have features"
            )
        return row

    def impressions_of_row(self) -> NDArray[np.float64]:
        """The number of impressions for which each row stands, float64 (n_rows,)."""
        return np.ones(self.n_rows) if self.weight is None else self.weight.astype(np.float64)

    def session_of_row(self) -> NDArray[np.int64]:
        """Number of each row's session from 0, in order of first appearance, int64 (n_rows,).

        Raises
        ------
        ValueError
            If the log has no sessions, or a session has two queries or shows two documents at one position.

        """
        return self._remembered("session", self._checked_sessions)

    def sessions(self) -> Sessions:
        """Each session as a list of its own, to train on single clicks.

        Returns
        -------
        Sessions
            ``queries`` with positions, the clicks as relevance and as label source ``clicks``, and the weights; the id
            of a list is its session's number. ``query`` and ``document`` are the keys of its rows.

        Raises
        ------
        ValueError
            If the log has no sessions, or they are not lists.

        Examples
        --------
        >>> log = ClickLog([5, 5, 5], ["x", "y", "x"], [1, 2, 1], [0, 1, 1], session=["s", "s", "t"])
        >>> q, query, document = log.sessions()
        >>> q
        Queries(3 documents in 2 queries; relevance, clicks, position)
        >>> document
        array(['x', 'y', 'x'], dtype='<U1')

        """
        session = self.session_of_row()
        order = np.lexsort((self.position, session))
        clicked = self.clicked[order].astype(np.float32)
        queries = Queries(
            clicked,
            ids=session[order],
            weight=None if self.weight is None else self.weight[order],
            position=self.positions.take(order),
            clicks=clicked,
        )
        return Sessions(queries, self.query[order], self.document[order])

    def _checked_sessions(self) -> NDArray[np.int64]:
        if self.session is None:
            raise ValueError(
                "the log has no sessions: give session= to tell which rows one user saw together"
            )
        code, first = codes_of(self.session)
        query = self._keys.query_of_row
        if (other := query != query[first][code]).any():
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


def check_log(log: object) -> None:
    """Raise TypeError where `log` is not a log."""
    if not isinstance(log, ClickLog):
        raise TypeError(f"log is {type(log).__name__}, expected ClickLog(…) or ClickLog.from_frame(frame, …)")


def _is_text(keys: NDArray[Any]) -> bool | None:
    """Whether keys are text; None if some are and some are not."""
    if keys.dtype.kind != "O":
        return keys.dtype.kind == "U"
    kinds = {isinstance(key, str) for key in keys}
    return kinds.pop() if len(kinds) == 1 else None


def _clicked(given: Any) -> NDArray[np.bool_]:
    if getattr(given, "dtype", None) == np.bool_:
        return np.array(given, dtype=np.bool_)
    a = numbers("clicked", given)
    if (bad := ~((a == 0) | (a == 1))).any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"clicked[{row}] is {a[row]:g}: give 0 or 1; for counts of clicks give rows with a weight"
        )
    return a == 1
