"""`ClickModel`: what the fitted models of sessions have in common, and the sessions that they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.clicks._curves import Floats, counts_of_all_positions, curve_with_intervals
from lambdaboost.clicks.click_log import ClickLog, check_log
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets.arrays import codes_of


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
        """The sessions of a log; raises if it is none or has none, positions have no order, or weights differ."""
        check_log(log)
        if log.position_names is not None:
            raise ValueError(
                "positions are categories, which users do not read in order: give ranks to fit this model"
            )
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
        weight = log.impressions_of_row()
        times = np.zeros(sizes.size)
        times[session[::-1]] = weight[::-1]  # the weight of each session's first row
        if (other := times[session] != weight).any():
            row = int(np.argmax(other))
            raise ValueError(
                f"row {row} has a weight other than the rest of its session: give one weight for all rows of a session"
            )
        code = np.zeros(sizes.size, dtype=np.int64)
        for at in range(shape[1]):  # number the different beginnings of lists
            code = codes_of((code * (log.n_documents + 1) + document[:, at] + 1) * 2 + clicked[:, at])[0]
        code, first = codes_of(code)
        return cls(
            document[first], clicked[first], np.bincount(code, times).astype(np.float64), code[session], place
        )

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

    def __post_init__(self) -> None:
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.attraction.size} documents)"

    @property
    @abstractmethod
    def relevance(self) -> Floats:
        """The relevance of each of ``log.documents`` in [0, 1], float64 (n_documents,)."""

    @abstractmethod
    def _examined(self, lists: SessionLists) -> Floats:
        """P(read | clicks of the session) at each place."""

    def labels(self, query: ArrayLike, document: ArrayLike) -> Floats:
        """The relevance as a label of the rows of a data set, float64 (n,); NaN for documents that were never shown."""
        return self.log.aligned(self.relevance, query, document)

    def examination(self) -> Floats:
        """P(the user read this document | the clicks of the session) for each row of the log."""
        lists = SessionLists.of(self.log)
        return lists.for_rows(self._examined(lists))

    def propensities(self, *, intervals: int = 200, seed: int = 0) -> Propensities:
        """The mean examination at each position of the fitted log, relative to the best position.

        The intervals resample queries with the model held fixed.
        """
        log, counts = self.log, counts_of_all_positions(self.log)
        shape, weight = (log.n_queries, log.n_positions), log.impressions_of_row()
        cell = log.query_of_row * log.n_positions + log.position - 1
        read, shown = (
            np.bincount(cell, values, minlength=np.prod(shape)).reshape(shape)
            for values in (weight * self.examination(), weight)
        )
        return curve_with_intervals(lambda times: (times @ read) / (times @ shown), counts, intervals, seed)
