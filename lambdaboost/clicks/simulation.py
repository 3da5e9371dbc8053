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
from lambdaboost.datasets.synthetic import result_pages

Floats = NDArray[np.float64]
SEVERITY, PROBABILITY = "give a finite number ≥ 0; 0 is no bias", "give a probability from 0 to 1"


def attraction(gain: Floats, noise: float) -> Floats:
    """P(click | looked at) = ε + (1 − ε) gain for the gain (2^l − 1) / (2^max − 1) (Ai et al. 2018); 0 past the end."""
    return np.where(np.isnan(gain), 0.0, noise + (1 - noise) * gain)


def examination(eta: float, gain: Floats) -> Floats:
    """P(looked at) = 1/k^η of each position k."""
    return 1.0 / np.arange(1, gain.shape[1] + 1) ** float(eta)


class PositionBased(Value):
    """Position k is looked at with probability 1/k^η, whatever else is shown (Joachims et al. 2017).

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
        check_number("eta", self.eta, 0, remedy=SEVERITY)
        check_number("noise", self.noise, 0, 1, remedy=PROBABILITY)

    def clicks(self, gain: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks, bool (n_sessions, n_positions)."""
        return rng.random(gain.shape) < examination(self.eta, gain) * attraction(gain, self.noise)


class TrustBias(Value):
    """Position k is looked at with probability 1/k^η, and users trust the top: wrong clicks are more likely there.

    P(click | looked at) = ε⁺_k gain + ε⁻_k (1 − gain) (TrustPBM of Agarwal et al. 2019, "Addressing Trust Bias for
    Unbiased Learning-to-Rank"), with ε⁺_k = 1 − (min(k, 20) + 1)/100 and ε⁻_k = `wrong` / min(k, 10) (the simulation
    of Vardasbi, Oosterhuis & de Rijke 2020).

    Parameters
    ----------
    eta : float
        The severity of the position bias, ≥ 0.
    wrong : float
        Probability of a click on a document of the worst grade that is looked at in position 1, in [0, 1].

    """

    eta: float = 1.0
    wrong: float = 0.65

    def __post_init__(self) -> None:
        check_number("eta", self.eta, 0, remedy=SEVERITY)
        check_number("wrong", self.wrong, 0, 1, remedy=PROBABILITY)

    def clicks(self, gain: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks, bool (n_sessions, n_positions)."""
        k = np.arange(1, gain.shape[1] + 1)
        right, wrong = 1 - (np.minimum(k, 20) + 1) / 100, self.wrong / np.minimum(k, 10)
        clicked = examination(self.eta, gain) * (right * gain + wrong * (1 - gain))
        return rng.random(gain.shape) < np.nan_to_num(clicked)


def simulate(
    scores: ArrayLike, q: Queries, model: Any, sessions: int, rng: np.random.Generator, k: int = 10
) -> ClickLog:
    """Show the top k of each query to simulated users, and log their clicks.

    In the log, the query is its index in `q`, the document its row, and the session a number from 0.

    Parameters
    ----------
    scores : array of shape (n_documents,) or (n_rankers, n_documents)
        Scores of the production ranker, or of several; then each session is served by one of them at random.
    q : Queries
        The queries; their grades determine which documents attract clicks.
    model : PositionBased, TrustBias
        How users click; any object with such a `clicks` method.
    sessions : int
        Sessions of each query, ≥ 1.
    rng : numpy.random.Generator
        Source of all randomness: the same state gives the same log.
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
    each, shown = check_whole("sessions", sessions), check_whole("k", k)
    rankers = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    pages = np.stack([result_pages(q.scores(ranker), q.sizes, shown) for ranker in rankers])
    query = np.repeat(np.arange(q.n_queries), each)
    ranker = rng.integers(len(rankers), size=query.size)
    return clicked_lists(pages[ranker, query], query, q, model, rng)


def clicked_lists(
    rows: NDArray[np.int64], query: NDArray[np.int64], q: Queries, model: Any, rng: np.random.Generator
) -> ClickLog:
    """The log of lists, (n_sessions, k) rows of `q`, −1 past the last one, that were shown for these queries."""
    grades = q.relevance.astype(np.float64)
    refuse_labels("relevance", grades, np.isnan(grades), "simulated users need a grade of every document")
    gain = np.expm1(grades * np.log(2))
    gain /= max(gain.max(), np.finfo(np.float64).tiny)
    shown = rows >= 0
    clicked = model.clicks(np.where(shown, gain[rows], np.nan), rng)
    session, place = np.nonzero(shown)
    return ClickLog(query[session], rows[shown], place + 1, clicked[shown], session=session)
