"""`QuerySoftmax`: CatBoost's QuerySoftMax, on trial on the other engines."""

from __future__ import annotations

import numpy as np

from lambdaboost import Queries
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import Floats, LambdaMu

REGULARIZER = 0.01  # CatBoost's default of its parameter lambda


class QuerySoftmax(Objective, registered=False):
    """CatBoost's QuerySoftMax: the cross-entropy of grades and a softmax, each query weighted by its sum of grades."""

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document."""
        starts, grades = q.offsets[:-1], q.relevance.astype(np.float64)
        e = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), q.sizes))
        p = e / np.repeat(np.add.reduceat(e, starts), q.sizes)
        total = np.repeat(np.add.reduceat(grades, starts), q.sizes)
        return grades - total * p, total * (p * (1 - p) + REGULARIZER)
