"""Decomposition of objectives into sums over pairs."""

from __future__ import annotations

from lambdaboost.objectives import ClickTier, GradientStep, LambdaRank, Objective, RankNet, SigmoidLocal
from lambdaboost.objectives.base.objective import check_objective
from lambdaboost.objectives.scorecard import WeightedSum

OF_PAIRS = (RankNet, LambdaRank, SigmoidLocal, ClickTier)


def pair_parts(objective: Objective, iteration: int = 0) -> list[tuple[float, Objective]]:
    """The pairwise objectives whose weighted sum of λ equals that of `objective` at a round.

    A `GradientStep` is replaced by the objective that it normalises: shares within a query are the same.

    Raises
    ------
    TypeError
        If an objective is not a sum over pairs, or normalises it by query as the engines' own do.

    """
    check_objective("objective", objective)
    if isinstance(objective, GradientStep):
        return pair_parts(objective.objective, iteration)
    if isinstance(objective, WeightedSum) and objective.combiner is None:
        weighted = zip(objective.weights_at(iteration), objective.parts, strict=True)
        return [(w * inner, leaf) for w, part in weighted for inner, leaf in pair_parts(part, iteration)]
    if isinstance(objective, OF_PAIRS) and getattr(objective, "convention", "paper") == "paper":
        return [(1.0, objective)]
    names = ", ".join(cls.__name__ for cls in OF_PAIRS)
    raise TypeError(
        f"objective contains {objective!r}, which is not a plain sum over pairs: give {names}, LambdaRank in the "
        "paper's convention, or blends of them with given weights"
    )


def is_of_pairs(objective: Objective) -> bool:
    """Whether an objective is a plain sum over pairs."""
    try:
        pair_parts(objective)
    except TypeError:
        return False
    return True
