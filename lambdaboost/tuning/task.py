"""Messages between a search and its workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.evaluation import Measure
from lambdaboost.tuning.candidates import Candidate


@dataclass(frozen=True, eq=False)
class Fold:
    """A training and a validation part; `queries` are the places of the latter's queries among all measured ones."""

    train: Collection
    valid: Collection
    queries: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Task:
    """What every training of a search has in common.

    Attributes
    ----------
    folds : tuple of Fold
        One where a validation part is given.
    measures : tuple of Measure
        The first one stops trainings early.
    candidates : tuple of Candidate
        From simple to complex.
    params : mapping
        Parameters of the engine that are fixed.
    rounds, patience : int
        The most rounds, and how many without a better value end a training.
    seed : int
        The engine's seed.

    """

    folds: tuple[Fold, ...]
    measures: tuple[Measure, ...]
    candidates: tuple[Candidate, ...]
    params: Mapping[str, Any]
    rounds: int
    patience: int
    seed: int

    @property
    def n_queries(self) -> int:
        """Number of measured queries."""
        return sum(fold.queries.size for fold in self.folds)

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of each measured query."""
        weight = np.empty(self.n_queries)
        for fold in self.folds:
            weight[fold.queries] = fold.valid.queries.query_weight
        return weight


@dataclass(frozen=True, eq=False)
class Job:
    """A training for a worker: a candidate, the values of its knobs, and what ends it early.

    Attributes
    ----------
    candidate : int
        Its place among the candidates.
    knobs : mapping of str to float
        The values of the knobs.
    floor : float64 (n,), or None
        A training is stopped at round r if its best value so far is below ``floor[r]``; None never stops it.
    rival : float64 (n_queries,), or None
        The best trial's values by query: a trial that is clearly worse on the folds so far is not worth the others.
    until : float
        The time, in seconds since the epoch, when the search ends.

    """

    candidate: int
    knobs: Mapping[str, float]
    floor: NDArray[np.float64] | None = None
    rival: NDArray[np.float64] | None = None
    until: float = float("inf")


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a trial.

    Attributes
    ----------
    state : "complete", "pruned" or "late"
        "late" if the search's time ended first.
    values : float64 (n_measures, n_queries)
        Each measure by query; NaN in folds that were left out.
    curves : tuple of tuple of float
        The first measure after each round, of each fold.
    rounds : tuple of int
        The best number of rounds of each fold.
    seconds : float
        The time that it took.
    model : bytes
        The model of the last fold, as its engine writes it; empty unless it is complete.
    warnings : tuple of str
        What the trainings warned of.

    """

    state: str
    values: NDArray[np.float64]
    curves: tuple[tuple[float, ...], ...]
    rounds: tuple[int, ...]
    seconds: float
    model: bytes = b""
    warnings: tuple[str, ...] = ()
