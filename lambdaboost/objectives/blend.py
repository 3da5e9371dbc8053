"""Two objectives as one, with a weight that may change from round to round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.pair_rule import PairRule, no_order
from lambdaboost.objectives.objective import Derivatives, Floats, Objective, check_number, check_objective
from lambdaboost.objectives.schedules import Schedule


@dataclass(frozen=True, repr=False)
class Blend(Objective):
    r"""The λ-gradients of two objectives in proportion (2011 paper, eqs. 10 and 12).

    :math:`\lambda = (1 - w_m)\,\lambda_1 + w_m\,\lambda_2` and likewise μ, at round m.

    Parameters
    ----------
    first, second : Objective
    weight : float in [0, 1], or a schedule
        w of the second: a number, `Constant`, `Linear`, `Exponential`, or any function of the round that gives it.

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
        if not callable(self.weight):
            check_number("weight", self.weight, 0, 1)

    @property
    def curvature_changes_sign(self) -> bool:  # type: ignore[override]
        """Whether μ can be negative."""
        return self.first.curvature_changes_sign or self.second.curvature_changes_sign

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Whether either does."""
        return self.first.ranks_ties_by_row or self.second.ranks_ties_by_row

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return tuple(dict.fromkeys(self.first.sources + self.second.sources))

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document at a round."""
        w = weight_at(self.weight, iteration)
        if w == 0:
            return self.first.lambdas(scores, q, iteration)
        if w == 1:
            return self.second.lambdas(scores, q, iteration)
        one, two = self.first.rule, self.second.rule
        if one is not None and two is not None:
            return _of_rules(one, two, w, scores, q)
        lam_1, mu_1 = self.first.lambdas(scores, q, iteration)
        lam_2, mu_2 = self.second.lambdas(scores, q, iteration)
        return (1 - w) * lam_1 + w * lam_2, (1 - w) * mu_1 + w * mu_2


def _of_rules(
    one: PairRule, two: PairRule, w: float, scores: Floats, q: Queries
) -> tuple[Derivatives, Derivatives]:
    """Both in one pass over the pairs where they differ in the force alone, else after one sort."""
    together = one.blended(two, w)
    if together is not None:
        return together.lambdas(scores, q)
    order = no_order(q)
    lam, mu = one.lambdas(scores, q, order)
    lam_2, mu_2 = two.lambdas(scores, q, order)
    for first, second in ((lam, lam_2), (mu, mu_2)):
        first *= 1 - w
        second *= w
        first += second
    return lam, mu


def weight_at(weight: float | Schedule, iteration: int, high: float = 1.0) -> float:
    """The weight at a round, checked."""
    w: Any = weight(iteration) if callable(weight) else weight
    if isinstance(w, bool) or not isinstance(w, int | float | np.integer | np.floating) or not 0 <= w <= high:
        wanted = "in [0, 1]" if high == 1 else "≥ 0"
        raise ValueError(
            f"the schedule {weight!r} gives {w!r} at round {iteration}, expected a number {wanted}"
        )
    return float(w)
