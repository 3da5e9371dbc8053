"""How users click on a list: position-based, cascade and trust bias.

Arrays have one row for each list and one column for each position, the best first.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number
from lambdaboost._value import Value

Floats = NDArray[np.float64]
SEVERITY, PROBABILITY = "give a finite number ≥ 0; 0 is no bias", "give a probability from 0 to 1"
CONTINUATION = "give a probability above 0 and at most 1"


class UserModel(Protocol):
    """How users click on a list."""

    def clicks(self, gain: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks on lists with such documents, shape (n_sessions, n_positions); gain is NaN past the last one."""


def attraction(gain: Floats, noise: float) -> Floats:
    """P(click | looked at) = ε + (1 − ε) gain for the gain (2^l − 1) / (2^max − 1) (Ai et al. 2018); 0 past the end."""
    return np.where(np.isnan(gain), 0.0, noise + (1 - noise) * gain)


def result_pages(score: Floats, sizes: NDArray[np.int64], shown: int) -> NDArray[np.int64]:
    """Rows of each query's best documents, best first, (n_queries, shown); −1 past the last document.

    >>> result_pages(np.array([0.1, 0.7, 0.5]), np.array([2, 1]), 3)
    array([[ 1,  0, -1],
           [ 2, -1, -1]])
    """
    query_of_row = np.repeat(np.arange(sizes.size), sizes)
    ranking = np.lexsort((-score, query_of_row))
    position = np.arange(score.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    top = position < shown
    page = np.full((sizes.size, shown), -1)
    page[query_of_row[top], position[top]] = ranking[top]
    return page


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

    def last_click(self, attraction: Floats, satisfaction: Floats) -> Floats:
        """P(last click), (n_queries, n_positions), where the last click is the lowest; satisfaction is not used.

        >>> PositionBased().last_click(np.array([[0.5, 0.5]]), np.ones((1, 2)))
        array([[0.375, 0.25 ]])
        """
        click = attraction / np.arange(1, attraction.shape[1] + 1) ** float(self.eta)
        none_below = np.ones_like(click)
        none_below[:, :-1] = np.cumprod(1 - click[:, :0:-1], axis=1)[:, ::-1]
        return click * none_below


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
        check_number("continuation", self.continuation, 0, 1, above=0, remedy=CONTINUATION)
        check_number("noise", self.noise, 0, 1, remedy=PROBABILITY)
        if self.satisfaction is not None:
            check_number("satisfaction", self.satisfaction, 0, 1, remedy=PROBABILITY)

    def clicks(self, gain: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Clicks, bool (n_sessions, n_positions)."""
        attracts = rng.random(gain.shape) < attraction(gain, self.noise)
        satisfies = attracts
        if self.satisfaction is not None:
            satisfies = attracts & (rng.random(gain.shape) < self.satisfaction * np.nan_to_num(gain))
        goes_on = ~satisfies & (rng.random(gain.shape) < self.continuation)
        reads = np.ones(gain.shape, dtype=np.bool_)
        reads[:, 1:] = np.logical_and.accumulate(goes_on[:, :-1], axis=1)
        return attracts & reads

    def last_click(self, attraction: Floats, satisfaction: Floats) -> Floats:
        """P(last click), (n_queries, n_positions), of documents with these attractions and satisfactions.

        >>> Cascade(0.95).last_click(np.array([[0.5, 0.5]]), np.array([[1.0, 1.0]]))  # one click at most
        array([[0.5   , 0.2375]])
        """
        goes_on = self.continuation * (1 - attraction * satisfaction)
        reads = np.ones_like(attraction)
        np.cumprod(goes_on[:, :-1], axis=1, out=reads[:, 1:])
        last = np.empty_like(attraction)
        silent = np.ones(len(attraction))  # P(no click from here on)
        for r in reversed(range(attraction.shape[1])):
            a, s = attraction[:, r], satisfaction[:, r]
            silent_below = 1 - self.continuation + self.continuation * silent
            last[:, r] = reads[:, r] * a * (s + (1 - s) * silent_below)
            silent = (1 - a) * silent_below
        return last


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


def examination(eta: float, gain: Floats) -> Floats:
    """P(looked at) = 1/k^η of each position k."""
    return 1.0 / np.arange(1, gain.shape[1] + 1) ** float(eta)


# The models of `web_search_log`.
CLICK_MODELS: Mapping[str, Cascade | PositionBased] = MappingProxyType(
    {"cascade": Cascade(0.95), "position": PositionBased()}
)
