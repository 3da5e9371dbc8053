"""`DynamicBayesian`: users read down the list until a click satisfies them or they give up."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from experiments.clicks.click_model import ClickModel, Floats, SessionLists
from lambdaboost.clicks import ClickLog

STEPS = 200
TOLERANCE = 1e-4  # of every probability


@dataclass(frozen=True, eq=False, repr=False)
class DynamicBayesian(ClickModel):
    """The dynamic Bayesian network of Chapelle & Zhang (2009).

    A document that is read is clicked with its attraction a. A clicked one satisfies with its satisfaction s, which
    ends the session; otherwise the user reads on with probability γ. The relevance is a · s.

    Attributes
    ----------
    log : ClickLog
        The fitted log.
    attraction, satisfaction : float64 (n_documents,)
        a and s of each of ``log.documents``.
    continuation : float
        γ.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import Cascade, simulate
    >>> q = Queries([2, 0, 1] * 20, sizes=[3] * 20)
    >>> rng = np.random.default_rng(0)
    >>> log = simulate(rng.normal(size=(3, 60)), q, Cascade(0.8, satisfaction=0.6, noise=0.1), 2000, rng)
    >>> model = DynamicBayesian.fit(log)
    >>> round(model.continuation, 1)
    0.8
    >>> model.labels(q.query_of_row, np.arange(60))[:3].round(1)  # attraction 1, 0.1, 0.4; satisfaction 0.6, 0, 0.2
    array([0.6, 0. , 0.1])

    """

    satisfaction: Floats
    continuation: float

    @classmethod
    def fit(
        cls,
        log: ClickLog,
        continuation: float | None = None,
        smoothing: tuple[float, float] = (1.0, 1.0),
    ) -> Self:
        """Fit to a log with sessions by expectation maximization.

        Parameters
        ----------
        log : ClickLog
            Sessions with any number of clicks.
        continuation : float, optional
            A known γ in (0, 1]; by default it is estimated.
        smoothing : pair of float
            a and b ≥ 0 of a Beta prior on attraction and satisfaction: added successes and failures.

        """
        a, b = smoothing
        lists = SessionLists.of(log)
        clicked = lists.clicked & (lists.times > 0)[:, None]
        if not clicked.any():
            raise ValueError("no session has a click, so nothing can be estimated: give more sessions")
        if continuation is None and not clicked[:, 1:].any():
            raise ValueError(
                "no click is below the first position, so whether users read on cannot be estimated: give continuation="
            )
        n = log.n_documents
        clicks = lists.by_document(lists.clicked.astype(np.float64), n)
        attraction = (clicks + 1) / (lists.by_document(np.ones(lists.clicked.shape), n) + 2)
        satisfaction, gamma = np.full(n, 0.5), 0.9 if continuation is None else float(continuation)
        for _ in range(STEPS):
            expected = _expected(lists, attraction, satisfaction, gamma)
            read, satisfied = (lists.by_document(e, n) for e in (expected.read, expected.satisfied))
            # Without a prior, nothing determines what was never read or clicked: it stays as it is.
            new_a = _ratio(clicks + a, read + a + b, attraction)
            new_s = _ratio(satisfied + a, clicks + a + b, satisfaction)
            new_gamma = expected.continued / expected.could_continue if continuation is None else gamma
            changes = new_a - attraction, new_s - satisfaction, new_gamma - gamma
            moved = max(np.abs(change).max() for change in changes)
            attraction, satisfaction, gamma = new_a, new_s, float(new_gamma)
            if moved < TOLERANCE:
                break
        else:
            warnings.warn(
                f"DynamicBayesian.fit stopped after {STEPS} steps while a probability still moved by {moved:.2g}",
                stacklevel=2,
            )
        return cls(log, attraction, satisfaction, gamma)

    @property
    def relevance(self) -> Floats:
        """Attraction · satisfaction of each of ``log.documents``: P(a user who reads it is satisfied)."""
        return self.attraction * self.satisfaction

    def _examined(self, lists: SessionLists) -> Floats:
        return _expected(lists, self.attraction, self.satisfaction, self.continuation).read


def _ratio(counts: Floats, trials: Floats, otherwise: Floats) -> Floats:
    """Counts / trials, or another value where there were no trials."""
    return np.divide(counts, trials, out=otherwise.copy(), where=trials > 0)


class _Expected(NamedTuple):
    """Expectations given the clicks: P(read) and P(satisfied) at each place, and the sums that estimate γ."""

    read: Floats
    satisfied: Floats
    continued: float
    could_continue: float


def _expected(lists: SessionLists, attraction: Floats, satisfaction: Floats, gamma: float) -> _Expected:
    """The E step, in closed form: everything up to the last click was read, and below it there is no click.

    With T_i = P(no click from place i on | i is read) = (1 − a_i)(1 − γ + γ T_{i+1}), T = 1 past the end.
    """
    document, clicked, times = lists.document, lists.clicked, lists.times
    n, length = document.shape
    filled = lists.filled
    a = np.where(filled, attraction[document], 0.0)
    s = np.where(clicked, satisfaction[document], 0.0)
    silent = np.ones((n, length + 1))
    for i in reversed(range(length)):
        silent[:, i] = np.where(filled[:, i], (1 - a[:, i]) * (1 - gamma + gamma * silent[:, i + 1]), 1.0)
    # Clicks below each place.
    below: NDArray[np.int64] = np.cumsum(clicked[:, ::-1], axis=1)[:, ::-1] - clicked
    read = np.where(filled & (below + clicked > 0), 1.0, 0.0)
    read[:, 0] = filled[:, 0]
    satisfied = np.zeros((n, length))
    continued = could_continue = 0.0
    for i in range(length):
        last = clicked[:, i] & (below[:, i] == 0)
        quiet = 1 - gamma + gamma * silent[:, i + 1]  # P(no click below | read, not satisfied)
        none = np.zeros(n)
        satisfied[:, i] = np.where(last, _ratio(s[:, i], s[:, i] + (1 - s[:, i]) * quiet, none), 0.0)
        reads_on = np.where(below[:, i] > 0, 1.0, _ratio(gamma * silent[:, i + 1], quiet, none))
        # Not satisfied: could have read on.
        open_ = read[:, i] * (1 - satisfied[:, i])
        if i + 1 < length:
            more = filled[:, i + 1]  # the end of a list does not show who reads on
            goes_on = np.where(more, open_ * reads_on, 0.0)
            read[:, i + 1] = np.where(below[:, i] > 0, read[:, i + 1], goes_on)
            continued += float((times * goes_on).sum())
            could_continue += float((times * open_)[more].sum())
    return _Expected(read, satisfied, continued, could_continue)
