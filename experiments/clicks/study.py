"""One fold under one kind of users: the log, the estimated curves, all rankers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.clicks.by_document import curve_by_document
from experiments.clicks.few_grades import by_share
from experiments.clicks.logs import USERS, as_lists, logged, production, true_curve
from experiments.clicks.rankers import EM, HARVESTED, PRODUCTION, SWAPS, TRUE, by_remedy
from experiments.clicks.swaps import swap_experiment
from experiments.common.data import Data, has_any
from lambdaboost import NDCG
from lambdaboost.clicks import Propensities, intervention_harvesting
from lambdaboost.datasets import Collection

FOLDS = 5
MEASURE = NDCG(k=10, empty=float("nan"))
FEW_GRADES_WITH, FEW_GRADES_BY = "position, η = 1", HARVESTED  # chosen before any result

Outcome = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Effort:
    """The size of a run: sessions of a fold, rounds of each training, resamples for the intervals of a curve."""

    sessions: int = 10_000
    rounds: int = 100
    resamples: int = 200


QUICK = Effort(sessions=4000, rounds=5, resamples=5)


def rank_test_queries(data: Data, effort: Effort, seed: int, task: tuple[str, int]) -> Outcome:
    """NDCG@10 of every test query of a fold by each ranker, and the curves with their intervals.

    The task is the name of the users and the number of the fold.
    """
    name, fold = task
    training, test = list(five_folds(data, seed))[fold]
    users = USERS[name]
    seed, rounds, resamples = seed + 1000 * fold, effort.rounds, effort.resamples
    scores, of_test = production(training, test, seed=seed)
    log = logged(scores, training, users, effort.sessions, seed + 1 + list(USERS).index(name))
    estimated: dict[str, Callable[[], Propensities]] = {
        SWAPS: lambda: swap_experiment(log.swaps, log.arm, intervals=resamples),
        HARVESTED: lambda: intervention_harvesting(log.sessions, intervals=resamples),
        EM: lambda: curve_by_document(log.sessions, intervals=resamples // 4),
    }
    curves = {}
    for estimator, estimate in estimated.items():
        with suppress(ValueError):  # too few clicks far down
            curves[estimator] = estimate()
    if (truth := true_curve(users)) is not None:
        curves[TRUE] = truth
    found = by_remedy(log.sessions, as_lists(log.sessions, training), curves, training, test, rounds)
    if name == FEW_GRADES_WITH:
        found |= by_share(log.sessions, curves[FEW_GRADES_BY], training, test, rounds, seed)
    figures = {f"NDCG {system}": MEASURE.per_query(s, test.queries) for system, s in found.items()}
    figures[f"NDCG {PRODUCTION}"] = np.mean([MEASURE.per_query(s, test.queries) for s in of_test], axis=0)
    return figures | {f"curve {estimator}": _relative(curve) for estimator, curve in curves.items()}


def _relative(curve: Propensities) -> NDArray[Any]:
    """Values and both ends of the intervals, relative to position 1, (3, n_positions)."""
    return np.array([curve.values, curve.low or curve.values, curve.high or curve.values]) / curve.values[0]


def five_folds(data: Data, seed: int) -> Iterator[tuple[Collection, Collection]]:
    """Training and test queries of each fold: LETOR's own, or five random parts of the queries.

    Training queries have a relevant document; validation parts train too.
    """
    if len(data.folds) == FOLDS:
        for fold in data.folds:
            yield _graded(data.joined(fold.train + fold.valid)), data.joined(fold.test)
        return
    whole = data.joined(tuple(data.parts))
    part = np.random.default_rng(seed).permutation(whole.queries.n_queries) % FOLDS
    for tested in range(FOLDS):
        yield _graded(whole.take(np.flatnonzero(part != tested))), whole.take(np.flatnonzero(part == tested))


def _graded(collection: Collection) -> Collection:
    q = collection.queries
    return collection.take(np.flatnonzero(has_any(q.relevance, q)))
