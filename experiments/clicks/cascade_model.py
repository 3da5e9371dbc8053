"""`CascadeModel`: users read down the list to the first click."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from experiments.clicks.click_model import ClickModel, Floats, SessionLists
from lambdaboost.clicks import ClickLog


@dataclass(frozen=True, eq=False, repr=False)
class CascadeModel(ClickModel):
    """The cascade model of Craswell et al. (2008): c_d = r_d Π_{i<d} (1 − r_i).

    Users read from the top and stop at the first click. Further clicks of a session are ignored; `DynamicBayesian`
    uses them.

    Attributes
    ----------
    log : ClickLog
        The fitted log.
    attraction : float64 (n_documents,)
        r of each of ``log.documents``: P(click | read).

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import Cascade, simulate
    >>> q = Queries([2, 0, 1], sizes=[3])
    >>> log = simulate([0.1, 0.2, 0.3], q, Cascade(noise=0.1), 10_000, np.random.default_rng(0))
    >>> model = CascadeModel.fit(log)
    >>> model.labels([0, 0, 0], [0, 1, 2]).round(1)  # 0.1 + 0.9 (2^l − 1) / 3
    array([1. , 0.1, 0.4])

    """

    @classmethod
    def fit(cls, log: ClickLog, smoothing: tuple[float, float] = (1.0, 1.0)) -> Self:
        """Fit to a log with sessions: r = (first clicks + a) / (times read + a + b), for the pair `smoothing` = (a, b).

        Without smoothing this is the largest likelihood, NaN for documents that were never read.
        """
        a, b = smoothing
        lists = SessionLists.of(log)
        read = _read(lists)
        clicks = lists.by_document(lists.clicked * read, log.n_documents)
        with np.errstate(invalid="ignore"):
            return cls(log, (clicks + a) / (lists.by_document(read, log.n_documents) + a + b))

    @property
    def relevance(self) -> Floats:
        """The attraction of each of ``log.documents``."""
        return self.attraction

    def _examined(self, lists: SessionLists) -> Floats:
        return _read(lists)


def _read(lists: SessionLists) -> Floats:
    """1 up to the first click, 0 below it."""
    return (np.cumsum(lists.clicked, axis=1) - lists.clicked == 0).astype(np.float64)
