"""Click models: the probability that each shown document is the last one clicked in a session.

Svore, Volkovs & Burges (2011, section 6) count last clicks only, since a user who stops after a document was
probably satisfied with it. Their distribution over the positions of a result page has a closed form in both
models here, so all sessions of a query are one multinomial draw instead of a loop over users.

Arrays have shape (n_queries, n_positions), best position first; attraction 0 marks an empty position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Probability = NDArray[np.float64]

# Probability that a user who is not yet satisfied reads the next document.
PERSISTENCE = 0.95


def cascade(attraction: Probability, satisfaction: Probability) -> Probability:
    """P(last click) of users who read down the page until satisfied.

    The dynamic Bayesian network of Chapelle & Zhang (2009), the cascade of Craswell et al. (2008) with
    satisfaction: a document that is read is clicked with its attraction, a clicked one satisfies with its
    satisfaction and ends the session; otherwise the user reads on with probability 0.95.

    Parameters
    ----------
    attraction, satisfaction : float64 arrays of shape (n_queries, n_positions)
        Probabilities in [0, 1].

    Returns
    -------
    float64 array of shape (n_queries, n_positions)
        P(last click here); a row sums to P(any click) ≤ 1.

    Examples
    --------
    >>> cascade(np.array([[0.5, 0.5]]), np.array([[1.0, 1.0]]))  # one click at most
    array([[0.5   , 0.2375]])

    """
    reads = _reading_probability(attraction, satisfaction)
    last = np.empty_like(attraction)
    silent = np.ones(len(attraction))  # P(no click from here on)
    for r in reversed(range(attraction.shape[1])):
        a, s = attraction[:, r], satisfaction[:, r]
        silent_below = 1 - PERSISTENCE + PERSISTENCE * silent
        last[:, r] = reads[:, r] * a * (s + (1 - s) * silent_below)
        silent = (1 - a) * silent_below
    return last


def _reading_probability(attraction: Probability, satisfaction: Probability) -> Probability:
    """P(the user reads this position): no document above has satisfied or stopped the user."""
    goes_on = PERSISTENCE * (1 - attraction * satisfaction)
    reads = np.ones_like(attraction)
    np.cumprod(goes_on[:, :-1], axis=1, out=reads[:, 1:])
    return reads


def position_based(attraction: Probability, satisfaction: Probability) -> Probability:
    """P(last click) where position r is read with probability 1/r, whatever is above it.

    The position-based model (Richardson, Dominowska & Ragno 2007): a document is clicked if its position is read
    and, independently, it attracts; the last click is the lowest. Satisfaction is not used.

    Parameters
    ----------
    attraction, satisfaction : float64 arrays of shape (n_queries, n_positions)
        Probabilities in [0, 1].

    Returns
    -------
    float64 array of shape (n_queries, n_positions)
        P(last click here); a row sums to P(any click) ≤ 1.

    Examples
    --------
    >>> position_based(np.array([[0.5, 0.5]]), np.array([[1.0, 1.0]]))
    array([[0.375, 0.25 ]])

    """
    click = attraction / np.arange(1, attraction.shape[1] + 1)
    none_below = np.ones_like(click)
    none_below[:, :-1] = np.cumprod(1 - click[:, :0:-1], axis=1)[:, ::-1]
    return click * none_below


CLICK_MODELS: Mapping[str, Callable[[Probability, Probability], Probability]] = MappingProxyType(
    {"cascade": cascade, "position": position_based}
)


def sampled_last_clicks(
    last_click: Probability, sessions: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Number of sessions, out of `sessions` per query, whose last click is at each position.

    >>> sampled_last_clicks(np.array([[0.0, 1.0, 0.0]]), 10, np.random.default_rng(0))
    array([[ 0, 10,  0]])
    """
    nowhere = np.clip(1 - last_click.sum(axis=1, keepdims=True), 0, 1)
    return rng.multinomial(sessions, np.hstack([last_click, nowhere]))[:, :-1]
