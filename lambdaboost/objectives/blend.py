"""Blend: the weighted mean of two objectives, with a weight that may change by round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.objectives.bound import LambdaMu, Lambdas, weighted_sum
from lambdaboost.objectives.kernels.prepared import PreparedPairs, Round
from lambdaboost.objectives.objective import Objective, check_objective, rule_of
from lambdaboost.objectives.schedules import Schedule, check_weight, weight_at


class Blend(Objective):
    r"""The λ-gradients of two objectives in proportion (2011 paper, eqs. 10 and 12).

    :math:`\lambda = (1 - w_m)\,\lambda_1 + w_m\,\lambda_2` and μ in the same way, at round m.

    Parameters
    ----------
    first, second : Objective
    weight : float in [0, 1], or a schedule
        w of the second: a number, `Constant`, `Linear`, `Exponential`, or any function of the round.

    Examples
    --------
    >>> from lambdaboost import Blend, LambdaRank, Linear, RankNet
    >>> Blend(LambdaRank(), RankNet(), Linear(0.1, 0.001))
    Blend(first=LambdaRank(), second=RankNet(), weight=Linear(start=0.1, rate=0.001))

    """

    first: Objective
    second: Objective
    weight: float | Schedule

    def __post_init__(self) -> None:
        check_objective("first", self.first)
        check_objective("second", self.second)
        check_weight("weight", self.weight, 1)

    def _prepare(self, q: Queries) -> Lambdas:
        weight, (first, second) = self.weight, (rule_of(part) for part in self.parts)
        # Rules that differ only in their force are summed in one pass over the pairs, which has both shares.
        pairs: Any = None
        is_local = first is not None and first.local
        if first is not None and first.noise is None and second == replace(first, local=not is_local):
            pairs = PreparedPairs(replace(first, local=True), q)
        parts = [part.prepare(q) for part in self.parts if pairs is None]

        def lambdas(now: Round) -> LambdaMu:
            w = weight_at(weight, now.iteration, high=1) if callable(weight) else weight
            if pairs is None:
                return weighted_sum(now, (1 - w, w), parts)
            of_local, of_logistic = (1 - w, w) if is_local else (w, 1 - w)
            shares = {"share": np.float32(of_local), "share_of_logistic": np.float32(of_logistic)}
            return pairs(now, force=pairs.force._replace(**shares))

        return lambdas
