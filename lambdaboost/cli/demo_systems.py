"""What ``lambdaboost demo`` compares: the systems, what becomes of each, and the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection, web_search_log
from lambdaboost.engines.leaves import Leaves
from lambdaboost.objectives import LambdaRank, Objective

DOCUMENTS = 50  # of a query, on average


@dataclass(frozen=True)
class Contender:
    """A system of the demonstration; without leaves it is the engine's own objective."""

    name: str
    leaves: Leaves | None = None
    objective: Objective = LambdaRank()


@dataclass
class Outcome:
    """The result of a contender: validation figures by learning rate, the chosen one, its booster, test scores."""

    contender: Contender
    validation: dict[float, float] = field(default_factory=dict)
    learning_rate: float = 0.0
    seconds: float = float("inf")
    booster: Any = None
    scores: NDArray[np.floating] = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Parts:
    """Training, validation and test part of the log: a quarter, a quarter and half of the queries."""

    train: Collection
    valid: Collection
    test: Collection

    @classmethod
    def make(cls, queries: int, seed: int) -> Parts:
        """A log whose documents are in random order inside each query."""
        log = web_search_log(queries, DOCUMENTS, seed=seed).shuffled(seed)
        cuts = np.split(np.arange(queries), [queries // 4, queries // 2])
        return cls(*(log.take(cut) for cut in cuts))
