"""λ and μ of several objectives, combined by a combiner."""

from __future__ import annotations

from collections.abc import Sequence

from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.objective import Floats, Objective
from lambdaboost.objectives.combiners.combiner import Combiner
from lambdaboost.objectives.combiners.parts import parts_of
from lambdaboost.objectives.kernels.pair_rule import Derivatives


def check_combination(combiner: Combiner, objectives: Sequence[Objective]) -> None:
    """Raise where a combiner takes another number of objectives, or needs a measure that one does not have."""
    combiner.check_parts(len(objectives))
    if combiner.reads_costs:
        for objective in objectives:
            _ = objective.measure


def combined(
    combiner: Combiner, objectives: Sequence[Objective], scores: Floats, q: Queries, iteration: int
) -> tuple[Derivatives, Derivatives]:
    """λ and μ of every document at a round."""
    parts = parts_of(objectives, scores, q, iteration)
    return parts.combined(combiner.weigh(parts))
