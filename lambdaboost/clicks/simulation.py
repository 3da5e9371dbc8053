"""Clicks of simulated users with a known bias, on the lists of one or more rankers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._value import Value
from lambdaboost.clicks.click_log import ClickLog
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.datasets._checks import check_count
from lambdaboost.datasets.synthetic.click_log import result_pages


class UserModel(Protocol):
    """How users click on a list."""

    def clicks(self, gain: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks on lists with such documents, shape (n_sessions, n_positions); gain is NaN past the last one."""


def attraction(gain: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """ε + (1 − ε) gain: the probability that a document that is looked at is clicked; 0 past the last document.

    The gain is (2^l − 1) / (2^max − 1) for grade l, and ε the probability of a click on the worst grade (as in
    Ai et al. 2018).
    """
    return np.where(np.isnan(gain), 0.0, noise + (1 - noise) * gain)


@dataclass(frozen=True, repr=False)
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
        Propensities.power(self.eta, 1)
        _check_probability("noise", self.noise)

    def propensities(self, k: int) -> Propensities:
        """The true curve of k positions."""
        return Propensities.power(self.eta, k)

    def clicks(self, gain: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks, bool (n_sessions, n_positions)."""
        looked = np.array(self.propensities(gain.shape[1]).values)
        return rng.random(gain.shape) < looked * attraction(gain, self.noise)


@dataclass(frozen=True, repr=False)
class Cascade(Value):
    """The user reads down the list until satisfied (Craswell et al. 2008; Chapelle & Zhang 2009).

    A document that is read is clicked with its attraction. A clicked one satisfies with probability `satisfaction` ·
    gain, or always if `satisfaction` is None, and ends the session; otherwise the user reads on with probability
    `continuation`.

    Parameters
    ----------
    continuation : float
        γ in (0, 1].
    satisfaction : float, optional
        Probability in [0, 1] that a clicked document of the best grade satisfies; by default the first click ends
        every session.
    noise : float
        Probability of a click on a document of the worst grade that is read, in [0, 1].

    """

    continuation: float = 1.0
    satisfaction: float | None = None
    noise: float = 0.1

    def __post_init__(self) -> None:
        _check_probability("continuation", self.continuation)
        _check_probability("noise", self.noise)
        if self.satisfaction is not None:
            _check_probability("satisfaction", self.satisfaction)

    def clicks(self, gain: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks, bool (n_sessions, n_positions)."""
        attracts = rng.random(gain.shape) < attraction(gain, self.noise)
        satisfies = attracts
        if self.satisfaction is not None:
            satisfies = attracts & (rng.random(gain.shape) < self.satisfaction * np.nan_to_num(gain))
        goes_on = ~satisfies & (rng.random(gain.shape) < self.continuation)
        reads = np.ones(gain.shape, dtype=np.bool_)
        reads[:, 1:] = np.logical_and.accumulate(goes_on[:, :-1], axis=1)
        return attracts & reads


@dataclass(frozen=True, repr=False)
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
        Propensities.power(self.eta, 1)
        _check_probability("wrong", self.wrong)

    def propensities(self, k: int) -> Propensities:
        """The true curve of looks at k positions."""
        return Propensities.power(self.eta, k)

    def clicks(self, gain: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks, bool (n_sessions, n_positions)."""
        k = np.arange(1, gain.shape[1] + 1)
        right, wrong = 1 - (np.minimum(k, 20) + 1) / 100, self.wrong / np.minimum(k, 10)
        looked = np.array(self.propensities(gain.shape[1]).values)
        clicked = looked * (right * gain + wrong * (1 - gain))
        return rng.random(gain.shape) < np.nan_to_num(clicked)


class SwapExperiment(NamedTuple):
    """A log of random swaps, and its `arm` as `swap_experiment` takes it."""

    log: ClickLog
    arm: NDArray[np.int64]


def simulate(
    scores: ArrayLike, q: Queries, model: UserModel, sessions: int, rng: np.random.Generator, k: int = 10
) -> ClickLog:
    """Show the top k of each query to simulated users, and log their clicks.

    Parameters
    ----------
    scores : array of shape (n_documents,) or (n_rankers, n_documents)
        Scores of the production ranker, or of several; then each session is served by one of them at random.
    q : Queries
        The queries; their grades tell which documents attract.
    model : PositionBased, Cascade, TrustBias
        How users click; any object with such a `clicks` method.
    sessions : int
        Sessions of each query, ≥ 1.
    rng : numpy.random.Generator
        Source of all randomness: the same state gives the same log.
    k : int
        Length of the result page, ≥ 1.

    Returns
    -------
    ClickLog
        Rows by session; the query is its index in `q`, the document its row, the session a number from 0.

    Raises
    ------
    ValueError
        If a grade is missing, or the scores do not fit `q`.

    Examples
    --------
    >>> q = Queries([2, 0, 1, 1, 0], sizes=[3, 2])
    >>> log = simulate([0.1, 0.2, 0.3, 0.1, 0.2], q, PositionBased(eta=1.0), 100, np.random.default_rng(0))
    >>> log
    ClickLog(500 impressions of 5 documents in 2 queries at 3 positions; 118 clicks)
    >>> log.labels(q.query_of_row, np.arange(q.n_documents)).round(2)
    array([0.3 , 0.06, 0.37, 0.3 , 0.15])

    """
    rows, query = _shown_lists(scores, q, check_count("sessions", sessions), rng, check_count("k", k))
    return _logged(rows, query, q, model, rng)


def simulate_swaps(
    scores: ArrayLike, q: Queries, model: UserModel, sessions: int, rng: np.random.Generator, k: int = 10
) -> SwapExperiment:
    """Like `simulate`, with a swap experiment in every session.

    Each session draws a position k from 2 to the end of its list, its arm, and swaps the documents of 1 and k with
    probability 1/2 (Joachims, Swaminathan & Schnabel 2017). `swap_experiment` reads the log and the arms.
    """
    rows, query = _shown_lists(scores, q, check_count("sessions", sessions), rng, check_count("k", k))
    length = (rows >= 0).sum(axis=1)
    # A list of one document has no other position.
    arm = np.where(length > 1, 1 + (rng.random(length.size) * (length - 1)).astype(np.int64), 0)
    swapped = np.flatnonzero(rng.random(length.size) < 0.5)
    rows[swapped, 0], rows[swapped, arm[swapped]] = rows[swapped, arm[swapped]], rows[swapped, 0]
    log = _logged(rows, query, q, model, rng)
    return SwapExperiment(log, np.where(arm > 0, arm + 1, 0)[np.repeat(np.arange(length.size), length)])


def _shown_lists(
    scores: ArrayLike, q: Queries, sessions: int, rng: np.random.Generator, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the documents of each session, (n_sessions, k), −1 past the last one; and the query of each session."""
    rankers = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    pages = np.stack([result_pages(q.scores(ranker), q.sizes, k) for ranker in rankers])
    query = np.repeat(np.arange(q.n_queries), sessions)
    ranker = rng.integers(len(rankers), size=query.size)
    return pages[ranker, query], query


def _logged(
    rows: NDArray[np.int64], query: NDArray[np.int64], q: Queries, model: UserModel, rng: np.random.Generator
) -> ClickLog:
    grades = q.relevance.astype(np.float64)
    if np.isnan(grades).any():
        row = int(np.argmax(np.isnan(grades)))
        raise ValueError(f"relevance[{row}] is missing: simulated users need a grade of every document")
    gain = np.expm1(grades * np.log(2))
    gain /= max(gain.max(), np.finfo(np.float64).tiny)
    shown = rows >= 0
    clicked = model.clicks(np.where(shown, gain[rows], np.nan), rng)
    session, place = np.nonzero(shown)
    return ClickLog(query[session], rows[shown], place + 1, clicked[shown], session=session)


def _check_probability(name: str, value: float) -> None:
    if not (isinstance(value, int | float) and 0 <= value <= 1):
        raise ValueError(f"{name} is {value!r}: give a probability from 0 to 1")
