"""CatBoost's objectives that lambdaboost lacks, on trial on the other engines."""

from __future__ import annotations

import numpy as np

from lambdaboost import Queries
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import Floats, LambdaMu

REGULARIZER = 0.01  # CatBoost's default of QuerySoftMax's parameter lambda
PERMUTATIONS, DECAY, SCALE = 10, 0.99, 0.15  # CatBoost's of YetiRank; the last is a constant of its source


class QuerySoftmax(Objective, registered=False):
    """QuerySoftMax: the cross-entropy of grades and a softmax, each query weighted by its sum of grades."""

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document."""
        starts, grades = q.offsets[:-1], q.relevance.astype(np.float64)
        e = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), q.sizes))
        p = e / np.repeat(np.add.reduceat(e, starts), q.sizes)
        total = np.repeat(np.add.reduceat(grades, starts), q.sizes)
        return grades - total * p, total * (p * (1 - p) + REGULARIZER)


class QueryRMSE(Objective, registered=False):
    """QueryRMSE: the squared error of scores and grades, both less their means over the query."""

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document."""
        residual = q.relevance - scores
        mean = np.add.reduceat(residual, q.offsets[:-1]) / q.sizes
        return residual - np.repeat(mean, q.sizes), np.ones(q.n_documents)


class YetiRank(Objective, registered=False):
    """YetiRank: pairs of neighbours in rankings with logistic noise, weighted by the difference of their grades."""

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document at a round."""
        rng, grades, query = np.random.default_rng((0, iteration)), q.relevance, q.query_of_row
        rank = np.arange(q.n_documents) - q.offsets[query]
        lam, mu = np.zeros(q.n_documents), np.zeros(q.n_documents)
        for _ in range(PERMUTATIONS):
            order = np.lexsort((-scores - rng.logistic(size=scores.size), query))
            upper, lower = order[:-1], order[1:]
            better = np.where(grades[upper] > grades[lower], upper, lower)
            worse = upper + lower - better
            weight = SCALE * DECAY ** rank[:-1] * (grades[better] - grades[worse]) / PERMUTATIONS
            weight[query[upper] != query[lower]] = 0
            rho = 1 / (1 + np.exp(scores[better] - scores[worse]))
            for documents, sign in ((better, 1), (worse, -1)):
                lam += np.bincount(documents, sign * weight * rho, q.n_documents)
                mu += np.bincount(documents, weight * rho * (1 - rho), q.n_documents)
        return lam, mu
