"""One fold under one kind of users: the log, the estimated curves, all rankers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.clicks.by_document import curve_by_document
from experiments.clicks.few_grades import by_share
from experiments.clicks.folds import five_folds
from experiments.clicks.logs import USERS, as_lists, logged, production, true_curve
from experiments.clicks.rankers import EM, HARVESTED, PRODUCTION, SWAPS, TRUE, by_remedy
from experiments.clicks.swaps import swap_experiment
from experiments.common.data import Data
from experiments.common.workers import Outcome
from lambdaboost import NDCG
from lambdaboost.clicks import Propensities, intervention_harvesting

MEASURE = NDCG(k=10, empty=float("nan"))
FEW_GRADES_WITH, FEW_GRADES_BY = "position, η = 1", HARVESTED  # chosen before any result


@dataclass(frozen=True)
class Effort:
    """The size of a run: sessions of a fold, rounds of each training, resamples for the intervals of a curve."""

    sessions: int = 10_000
    rounds: int = 100
    resamples: int = 200


QUICK = Effort(sessions=4000, rounds=5, resamples=5)


@dataclass(frozen=True)
class Task:
    """A fold and its users."""

    fold: int
    users: str


@dataclass(frozen=True, eq=False)
class Study:
    """Runs tasks on a data set."""

    data: Data
    effort: Effort
    seed: int

    def __call__(self, task: Task) -> Outcome:
        """NDCG@10 of every test query by each ranker, and the curves with their intervals."""
        training, test = list(five_folds(self.data, self.seed))[task.fold]
        users = USERS[task.users]
        seed, rounds, resamples = self.seed + 1000 * task.fold, self.effort.rounds, self.effort.resamples
        scores, of_test = production(training, test, seed=seed)
        log = logged(scores, training, users, self.effort.sessions, seed + 1 + list(USERS).index(task.users))
        sessions = as_lists(log.sessions, training)
        estimated: dict[str, Callable[[], Propensities]] = {
            SWAPS: lambda: swap_experiment(log.swaps, log.arm, intervals=resamples),
            HARVESTED: lambda: intervention_harvesting(log.sessions, intervals=resamples),
            EM: lambda: curve_by_document(log.sessions, intervals=resamples // 4),
        }
        curves = {}
        for name, estimate in estimated.items():
            with suppress(ValueError):  # too few clicks far down
                curves[name] = estimate()
        if (truth := true_curve(users)) is not None:
            curves[TRUE] = truth
        found = by_remedy(log.sessions, sessions, curves, training, test, rounds)
        if task.users == FEW_GRADES_WITH:
            found |= by_share(log.sessions, curves[FEW_GRADES_BY], training, test, rounds, seed)
        figures = {f"NDCG {name}": MEASURE.per_query(s, test.queries) for name, s in found.items()}
        by_production = [MEASURE.per_query(s, test.queries) for s in of_test]
        figures[f"NDCG {PRODUCTION}"] = np.mean(by_production, axis=0)
        return figures | _curves(curves)


def _curves(curves: dict[str, Propensities]) -> dict[str, Any]:
    """Values and intervals of each curve, relative to position 1."""
    found = {}
    for name, curve in curves.items():
        rows = [curve.values, curve.low or curve.values, curve.high or curve.values]
        found[f"curve {name}"] = np.array(rows) / curve.values[0]
    return found
