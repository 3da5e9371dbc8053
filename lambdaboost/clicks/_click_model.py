"""`ClickModel`: what the fitted models of sessions have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.clicks._bootstrap import curve_with_intervals
from lambdaboost.clicks._checks import check_shown
from lambdaboost.clicks._session_lists import SessionLists
from lambdaboost.clicks.click_log import ClickLog, check_log
from lambdaboost.clicks.propensities import Propensities

Floats = NDArray[np.float64]


class ClickModel(ABC):
    """A model of which documents users read in a session, fitted to a log."""

    log: ClickLog

    @property
    @abstractmethod
    def relevance(self) -> Floats:
        """The relevance of each of ``log.documents`` in [0, 1], float64 (n_documents,)."""

    @abstractmethod
    def _examined(self, lists: SessionLists, known: NDArray[np.int64]) -> Floats:
        """P(read | clicks of the session) at each place; `known` maps the documents of the lists to those of `log`."""

    def labels(self, query: ArrayLike, document: ArrayLike) -> Floats:
        """The relevance as a label of the rows of a data set, float64 (n,); NaN for documents that were never shown."""
        return self.log.aligned(self.relevance, query, document)

    def examination(self, log: ClickLog | None = None) -> Floats:
        """P(the user read this document | the clicks of the session) for each row of a log, by default the fitted one.

        Raises
        ------
        ValueError
            If another log has no sessions, or a document that the fitted one does not have.

        """
        log = self.log if log is None else log
        known = np.arange(log.n_documents) if log is self.log else self.log.find(*log.documents)
        if (known < 0).any():
            at = int(np.argmin(known))
            raise ValueError(
                f"document {log.documents[1][at]!s} of query {log.documents[0][at]!s} is not in the log of the fit: "
                "fit both together"
            )
        lists = SessionLists.of(log)
        return lists.for_rows(self._examined(lists, known))

    def propensities(self, *, intervals: int = 200, seed: int = 0) -> Propensities:
        """The mean examination at each position of the fitted log, relative to the best position.

        The intervals resample queries with the model held fixed.
        """
        log = self.log
        weight = log.impressions_of_row()
        cell = log.query_of_row * log.n_positions + log.position - 1
        size, shape = log.n_queries * log.n_positions, (log.n_queries, log.n_positions)
        read = np.bincount(cell, weight * self.examination(), minlength=size).reshape(shape)
        shown = np.bincount(cell, weight, minlength=size).reshape(shape)
        check_shown(shown.sum(axis=0), log.position_names)
        return curve_with_intervals(
            lambda times: (times @ read) / (times @ shown), log.n_queries, intervals, seed, log.position_names
        )


def check_model_log(log: ClickLog) -> SessionLists:
    """The sessions of a log; raises if it is none, or positions have no order."""
    check_log(log)
    if log.position_names is not None:
        raise ValueError(
            "positions are categories, which users do not read in order: give ranks to fit this model"
        )
    return SessionLists.of(log)
