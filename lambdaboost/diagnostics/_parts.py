"""Decomposition of objectives into sums over pairs."""

from __future__ import annotations

from lambdaboost.objectives import (
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Objective,
    RankNet,
    Scorecard,
    SigmoidLocal,
)
from lambdaboost.objectives.base.objective import check_objective
from lambdaboost.objectives.combiners.combiner import Combiner
from lambdaboost.objectives.schedules import weight_at

OF_PAIRS = (RankNet, LambdaRank, SigmoidLocal, ClickTier)


def pair_parts(objective: Objective, iteration: int = 0) -> list[tuple[float, Objective]]:
    """The pairwise objectives whose weighted sum of λ equals that of `objective` at a round.

    A `GradientStep` is replaced by the objective that it normalises: shares within a query are the same.

    Raises
    ------
    TypeError, ValueError
        If an objective is not a sum over pairs, or normalises it by query as the engines' own do.

    """
    check_objective("objective", objective)
    if isinstance(objective, GradientStep):
        return pair_parts(objective.objective, iteration)
    if isinstance(objective, Blend) and not isinstance(objective.weight, Combiner):
        w = weight_at(objective.weight, iteration)
        parts = [(1 - w, objective.first), (w, objective.second)]
    elif isinstance(objective, Scorecard) and not isinstance(objective.weights, Combiner):
        weights = (weight_at(weight, iteration, high=float("inf")) for weight in objective.weights)
        parts = list(zip(weights, objective.objectives, strict=True))
    else:
        return [(1.0, _checked(objective))]
    return [(w * inner, leaf) for w, part in parts for inner, leaf in pair_parts(part, iteration)]


def _checked(objective: Objective) -> Objective:
    if not isinstance(objective, OF_PAIRS):
        names = ", ".join(cls.__name__ for cls in OF_PAIRS)
        raise TypeError(
            f"objective contains {objective!r}, which is not a plain sum over pairs: give {names} or blends of them "
            "with given weights"
        )
    if isinstance(objective, LambdaRank) and objective.convention != "paper":
        raise ValueError(
            f"objective contains {objective!r}, which scales all pairs of a query: give LambdaRank(NDCG(k=…)), "
            "the paper's convention"
        )
    return objective
