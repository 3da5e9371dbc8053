"""Grades for a few of the queries and debiased clicks for all: `graded()` against either alone."""

from __future__ import annotations

import numpy as np

from experiments.clicks.rankers import Scores, predicted, rates, session_data
from lambdaboost import LambdaRank, Queries, graded
from lambdaboost.clicks import ClickLog, Propensities
from lambdaboost.datasets import Collection

SHARES = (0.01, 0.05, 0.25)
WEIGHTS = (0.1, 0.5)  # the default first
GRADES, BOTH = "grades alone", "graded"


def by_share(
    log: ClickLog, curve: Propensities, training: Collection, test: Collection, rounds: int, seed: int
) -> dict[str, Scores]:
    """Scores of the test documents by each ranker, named after what it saw."""
    q, X = training.queries, test.features
    clicks = rates(log, curve, q)
    order = np.random.default_rng(seed).permutation(q.n_queries)
    scores = {}
    for share in SHARES:
        few = np.sort(order[: max(1, round(share * q.n_queries))])
        scores[named(GRADES, share)] = predicted(LambdaRank(), session_data(training.take(few)), X, rounds)
        known = np.isin(q.query_of_row, few)
        labels = Queries(np.where(known, q.relevance, np.nan), q.sizes, clicks=clicks)
        data = session_data(Collection(training.features, labels))
        for weight in WEIGHTS:
            scores[named(f"{BOTH}({weight:g})", share)] = predicted(graded(weight), data, X, rounds)
    return scores


def named(system: str, share: float) -> str:
    """The name of a system that saw the grades of a share of the queries."""
    return f"{system}, {100 * share:g} % of the grades"
