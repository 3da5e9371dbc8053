"""Clicks of simulated users with a known bias, on the lists of one or more rankers.

Arrays have one row for each list and one column for each position, the best first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_number, check_whole, refuse_labels
from lambdaboost._value import Value
from lambdaboost.clicks.click_log import ClickLog
from lambdaboost.datasets import Queries
from lambdaboost.datasets.arrays import as_array
from lambdaboost.datasets.synthetic import result_pages

Floats = NDArray[np.float64]


class PositionBased(Value):
    """Position k is looked at with probability 1/k^η, whatever else is shown (Joachims et al. 2017).

    A document that is looked at is clicked with probability ε + (1 − ε) gain, the gain being (2^l − 1) / (2^max − 1)
    (Ai et al. 2018).

    Parameters
    ----------
    eta : float
        The severity of the bias, ≥ 0; 0 is no bias.
    noise : float
        Probability of a click on a document of the worst grade that is looked at, in [0, 1].

    """

    eta: float = 1.0
    noise: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("eta", self.eta, 0, remedy="give a finite number ≥ 0; 0 is no bias")
        check_number("noise", self.noise, 0, 1, remedy="give a probability from 0 to 1")

    def clicks(self, gain: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks, bool (n_sessions, n_positions)."""
        looked_at = 1.0 / np.arange(1, gain.shape[1] + 1) ** float(self.eta)
        attracts = np.nan_to_num(self.noise + (1 - self.noise) * gain)  # NaN past the end of a list
        return rng.random(gain.shape) < looked_at * attracts


def simulate(
    scores: ArrayLike, q: Queries, model: Any, sessions: int, rng: np.random.Generator | int, k: int = 10
) -> ClickLog:
    """Show the top k of each query to simulated users, and log their clicks.

    In the log, the query is its index in `q`, the document its row, and the session a number from 0.

    Parameters
    ----------
    scores : array of shape (n_documents,) or (n_rankers, n_documents)
        Scores of the production ranker, or of several; then each session is served by one of them at random.
    q : Queries
        The queries; their grades determine which documents attract clicks.
    model : PositionBased
        How users click; any object with such a `clicks` method.
    sessions : int
        Sessions of each query, ≥ 1.
    rng : numpy.random.Generator or int
        Source of all randomness, or its seed: the same state gives the same log.
    k : int
        Length of the result page, ≥ 1.

    Examples
    --------
    >>> from lambdaboost.clicks import PositionBased
    >>> q = Queries([2, 0, 1, 1, 0], sizes=[3, 2])
    >>> log = simulate([0.1, 0.2, 0.3, 0.1, 0.2], q, PositionBased(eta=1.0), 100, np.random.default_rng(0))
    >>> log
    ClickLog(500 impressions of 5 documents in 2 queries at 3 positions; 118 clicks)

    """
    each, shown, rng = check_whole("sessions", sessions), check_whole("k", k), np.random.default_rng(rng)
    pages = np.stack(
        [result_pages(q.scores(ranker), q.sizes, shown) for ranker in np.atleast_2d(as_array(scores))]
    )
    query = np.repeat(np.arange(q.n_queries), each)
    ranker = rng.integers(len(pages), size=query.size)
    rows = pages[ranker, query]  # -1 past the end of a list

    grades = q.relevance.astype(np.float64)
    refuse_labels("relevance", grades, np.isnan(grades), "simulated users need a grade of every document")
    gain = np.expm1(grades * np.log(2))
    gain /= max(gain.max(), np.finfo(np.float64).tiny)
    seen = rows >= 0
    clicked = model.clicks(np.where(seen, gain[rows], np.nan), rng)
    session, place = np.nonzero(seen)
    return ClickLog(query[session], rows[seen], place + 1, clicked[seen], session=session)
