"""The goal of a second measure: an objective with a weight of it, and what it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lambdaboost._checks import check_number
from lambdaboost.datasets import Collection
from lambdaboost.evaluation import Measure
from lambdaboost.native import NativeObjective
from lambdaboost.objectives import GradientStep, LambdaRank, Objective, Scorecard
from lambdaboost.objectives.swaps.registry import SWAPS, check_swap
from lambdaboost.tuning.checks import unfit


def weighted(rule: Any, measures: Sequence[Measure], weight: float) -> Any:
    """An objective of the first measure with a weight of LambdaRank of the second; itself at 0.

    An engine's own objective, which cannot be a part of another, becomes LambdaRank of the first measure.

    >>> from lambdaboost.evaluation import CNDCG, NDCG
    >>> weighted(LambdaRank(), (NDCG(10), CNDCG(10)), 0.25)
    Scorecard(objectives=(LambdaRank(), LambdaRank(metric=CNDCG(k=10))), weights=(0.75, 0.25))
    """
    if weight == 0:
        return rule
    if isinstance(rule, GradientStep):
        return replace(rule, objective=weighted(rule.objective, measures, weight))
    if isinstance(rule, NativeObjective):
        rule = goal_of(measures[0]) if isinstance(measures[0], tuple(SWAPS)) else LambdaRank()
    return Scorecard((rule, goal_of(measures[1])), (1 - weight, weight))


def goal_of(measure: Any) -> Objective:
    """LambdaRank of a measure."""
    return LambdaRank(replace(measure, empty=0.0))


def check_keep(keep: Any, measures: Sequence[Measure]) -> None:
    """Raise unless there are a measure to keep within a tolerance that it can lose, and one that can be raised."""
    check_number("keep", keep, above=0, remedy="give what the first measure may lose, such as 0.005")
    if keep >= 1:
        raise ValueError(f"keep is {keep!r}: give what the first measure may lose, below 1, such as 0.005")
    if len(measures) != 2:
        raise ValueError(
            f"keep takes two different measures, one to keep and one to raise, and measure has {len(measures)}: give "
            "such as measure=['ndcg@10', 'cndcg@10']"
        )
    check_swap("keep with a second measure, which", measures[1])


def check_goals(measures: Sequence[Measure], part: Collection) -> None:
    """Raise where the second goal cannot be trained on the data."""
    if (reason := unfit(goal_of(measures[1]), part)) is not None:
        raise ValueError(f"measure {measures[1]!r} cannot be raised on these data: {reason}")
