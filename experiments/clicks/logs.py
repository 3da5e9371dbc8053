"""Logs of simulated users of weak production rankers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from experiments.clicks.rankers import LIGHTGBM, session_data
from experiments.clicks.swaps import simulate_swaps
from lambdaboost import GradientStep, LambdaRank
from lambdaboost.clicks import (
    ClickLog,
    PositionBased,
    Propensities,
    TrustBias,
    simulate,
)
from lambdaboost.clicks.simulation import attraction
from lambdaboost.datasets import Collection


@dataclass(frozen=True)
class Cascade:
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


USERS: Mapping[str, Any] = MappingProxyType(
    {
        "position, η = 0": PositionBased(0.0),
        "position, η = 0.5": PositionBased(0.5),
        "position, η = 1": PositionBased(1.0),
        "position, η = 2": PositionBased(2.0),
        "cascade": Cascade(),
        "trust": TrustBias(1.0),
    }
)
UNBIASED_USERS = "position, η = 0"
SHOWN = 10
IN_SWAPS = 0.2  # sessions of the swap experiment, on top of them
PRODUCTION_RANKERS, GRADED_FOR_EACH = 3, 10
WEAK = {"num_leaves": 5, "min_data_in_leaf": 5}


@dataclass(frozen=True, eq=False)
class Log:
    """What users did on the training queries of a fold, and the swap experiment of some of them."""

    sessions: ClickLog
    swaps: ClickLog
    arm: NDArray[np.int64]


def true_curve(users: Any) -> Propensities | None:
    """The probability that these users look at each position; None where it depends on what is shown."""
    return Propensities.power(users.eta, SHOWN) if isinstance(users, PositionBased | TrustBias) else None


def production(training: Collection, *others: Collection, seed: int) -> list[NDArray[np.float64]]:
    """Scores by weak rankers, each trained on a few graded queries: for each collection (n_rankers, n_documents)."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(PRODUCTION_RANKERS):
        few = rng.permutation(training.queries.n_queries)[:GRADED_FOR_EACH]
        data = session_data(training.take(np.sort(few)))
        booster = lgb.train(LIGHTGBM | WEAK | {"objective": GradientStep(LambdaRank())}, data, 10)
        found.append([booster.predict(part.features, raw_score=True) for part in (training, *others)])
    return [np.array(scores) for scores in zip(*found, strict=True)]


def logged(scores: NDArray[np.float64], training: Collection, users: Any, sessions: int, seed: int) -> Log:
    """The log of all sessions, shared equally among the queries, each served by one of the rankers."""
    rng, q = np.random.default_rng(seed), training.queries
    each = max(1, sessions // q.n_queries)
    log = simulate(scores, q, users, each, rng, SHOWN)
    swaps = simulate_swaps(scores, q, users, max(1, round(IN_SWAPS * each)), rng, SHOWN)
    return Log(log, *swaps)


def as_lists(log: ClickLog, training: Collection) -> Collection:
    """Each session a list of the documents shown, in the order shown, with clicks as labels."""
    lists = log.sessions()
    return Collection(training.features[lists.document], lists.queries)
