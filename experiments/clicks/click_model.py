"""`ClickModel`: what the fitted models of sessions have in common, and the sessions that they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.clicks import ClickLog, Propensities
from lambdaboost.clicks.curves import curve_with_intervals

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SessionLists:
    """The different sessions of a log, each with the number of times that it occurred.

    Attributes
    ----------
    document : int64 (n, length)
        The number of the document at each place, in order of position; −1 past the last one.
    clicked : bool (n, length)
    times : float64 (n,)
        Sum of the weights of equal sessions.
    of_row, place_of_row : int64 (n_rows,)
        The list of each row of the log, and its place in it.

    """

    document: NDArray[np.int64]
    clicked: NDArray[np.bool_]
    times: Floats
    of_row: NDArray[np.int64]
    place_of_row: NDArray[np.int64]

    @classmethod
    def of(cls, log: ClickLog) -> SessionLists:
        """The sessions of a log, whose positions are ranks and whose weights are those of whole sessions."""
        session = log.session_of_row()
        order = np.lexsort((log.position, session))
        sizes = np.bincount(session)
        place = np.empty(log.n_rows, dtype=np.int64)
        place[order] = np.arange(log.n_rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        shape = (sizes.size, int(sizes.max()))
        document = np.full(shape, -1)
        clicked = np.zeros(shape, dtype=np.bool_)
        document[session, place] = log.document_of_row
        clicked[session, place] = log.clicked
        times = np.ones(sizes.size)
        if log.weight is not None:
            times[session] = log.weight
        both, code = np.unique(np.concatenate([document, clicked], axis=1), axis=0, return_inverse=True)
        code = code.ravel()
        documents, clicks = np.split(both, 2, axis=1)
        return cls(documents, clicks > 0, np.bincount(code, times).astype(np.float64), code[session], place)

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Whether there is a document at each place."""
        return self.document >= 0

    def by_document(self, values: Floats, n_documents: int) -> Floats:
        """The sum over sessions of the values at the places of each document; values have shape (n, length)."""
        at = self.filled
        weighted = (values * self.times[:, None])[at]
        return np.bincount(self.document[at], weighted, minlength=n_documents).astype(np.float64)

    def for_rows(self, values: Floats) -> Floats:
        """The value of each row of the log."""
        return values[self.of_row, self.place_of_row]


@dataclass(frozen=True, eq=False, repr=False)
class ClickModel(ABC):
    """A model of which documents users read in a session, fitted to a log."""

    log: ClickLog
    attraction: Floats

    @property
    @abstractmethod
    def relevance(self) -> Floats:
        """The relevance of each of ``log.documents`` in [0, 1], float64 (n_documents,)."""

    @abstractmethod
    def _examined(self, lists: SessionLists) -> Floats:
        """P(read | clicks of the session) at each place."""

    def labels(self, query: ArrayLike, document: ArrayLike) -> Floats:
        """The relevance as a label of the rows of a data set, float64 (n,); NaN for documents that were never shown."""
        found = self.log.find(query, document)
        return np.where(found >= 0, self.relevance[found], np.nan)

    def examination(self) -> Floats:
        """P(the user read this document | the clicks of the session) for each row of the log."""
        lists = SessionLists.of(self.log)
        return lists.for_rows(self._examined(lists))

    def propensities(self, *, intervals: int = 200) -> Propensities:
        """The mean examination at each position of the fitted log, relative to the best position.

        The intervals resample queries with the model held fixed.
        """
        log, counts = self.log, self.log.counts()
        weight = np.ones(log.n_rows) if log.weight is None else log.weight
        cell = log.query_of_row * log.n_positions + log.position - 1
        shape = (counts.n_queries, log.n_positions)
        read, shown = (
            np.bincount(cell, values, minlength=np.prod(shape)).reshape(shape)
            for values in (weight * self.examination(), weight)
        )
        return curve_with_intervals(lambda times: (times @ read) / (times @ shown), counts, intervals)
