"""Sessions as a matrix of documents and clicks, with equal sessions merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks._keys import codes_of
from lambdaboost.clicks.click_log import ClickLog

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
        """The sessions of a log; raises if it has none, or the rows of one differ in weight."""
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
