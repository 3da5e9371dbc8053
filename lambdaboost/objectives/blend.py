"""Blend: the weighted mean of two objectives, with a weight that may change by round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.objectives.bound import LambdaMu, Lambdas, weighted_sum
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.prepared import PreparedPairs, Round
from lambdaboost.objectives.objective import Objective, check_objective, rule_of
from lambdaboost.objectives.schedules import Schedule, check_weight, weight_at

WeightedSum = Callable[[Round, tuple[float, float]], LambdaMu]


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

    @property
    def parts(self) -> tuple[Objective, ...]:
        """Both objectives."""
        return self.first, self.second

    def _prepare(self, q: Queries) -> Lambdas:
        rules, weight = [rule_of(part) for part in self.parts], self.weight
        sum_weighted = _one_pass(rules, q) or _two_passes(self.parts, q)

        def lambdas(now: Round) -> LambdaMu:
            w = weight_at(weight, now.iteration, high=1) if callable(weight) else weight
            return sum_weighted(now, (1 - w, w))

        return lambdas


def _one_pass(rules: Sequence[PairRule | None], q: Queries) -> WeightedSum | None:
    """The sum in one pass over the pairs of two rules that differ in their force only; None if they do not."""
    first, second = rules
    if first is None or second is None or first.noise is not None or first.local == second.local:
        return None
    if replace(first, local=second.local) != second:
        return None
    of_local = int(second.local)  # the index of its weight
    pairs = PreparedPairs(second if second.local else first, q)
    force: Any = pairs.force  # `Local`

    def sum_weighted(now: Round, weights: tuple[float, float]) -> LambdaMu:
        share, share_of_logistic = np.float32(weights[of_local]), np.float32(weights[1 - of_local])
        return pairs(now, force=force._replace(share=share, share_of_logistic=share_of_logistic))

    return sum_weighted


def _two_passes(parts: Sequence[Objective], q: Queries) -> WeightedSum:
    """The sum of two objectives on their own."""
    prepared = [part.prepare(q) for part in parts]
    return lambda now, weights: weighted_sum(now, weights, prepared)
