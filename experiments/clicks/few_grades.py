"""Grades for a few of the queries and debiased clicks for all: `graded()` against either alone."""

from __future__ import annotations

import numpy as np

from experiments.clicks.logs import Log
from experiments.clicks.rankers import CLIP, Scores, predicted, session_data
from lambdaboost import CNDCG, InversePropensity, LambdaRank, Queries, graded
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Collection

SHARES = (0.01, 0.05, 0.25)
PRIOR = (1.0, 9.0)  # one click in ten looks, as a document of the worst grade has
WEIGHT = 0.5
CLICKS, SESSION_CLICKS, GRADES, BOTH = "clicks alone", "clicks alone, by session", "grades alone", "graded()"


def by_share(
    log: Log, sessions: Collection, curve: Propensities, training: Collection, test: Collection, seed: int
) -> dict[str, Scores]:
    """Scores of the test documents by each ranker, named after what it saw."""
    q, X = training.queries, test.features
    rates = log.sessions.labels(q.query_of_row, np.arange(q.n_documents), PRIOR, curve).clip(0, 1)
    clicks_alone = LambdaRank(CNDCG(source="clicks"))
    in_sessions = InversePropensity(LambdaRank(), curve, clip=CLIP)
    scores = {SESSION_CLICKS: predicted(in_sessions, session_data(sessions), X)}
    order = np.random.default_rng(seed).permutation(q.n_queries)
    for share in SHARES:
        few = np.sort(order[: max(1, round(share * q.n_queries))])
        known = np.isin(q.query_of_row, few)
        labels = Queries(np.where(known, q.relevance, np.nan), q.sizes, clicks=rates)
        data = session_data(Collection(training.features, labels))
        if CLICKS not in scores:
            scores[CLICKS] = predicted(clicks_alone, data, X)
        scores[named(GRADES, share)] = predicted(LambdaRank(), session_data(training.take(few)), X)
        scores[named(BOTH, share)] = predicted(graded(WEIGHT), data, X)
    return scores


def named(system: str, share: float) -> str:
    """The name of a system that saw the grades of a share of the queries."""
    return f"{system}, {100 * share:g} % of the grades"
