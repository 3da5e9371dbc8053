"""The two ways to turn λ and μ into trees."""

from __future__ import annotations

from typing import Literal, get_args

from lambdaboost.objectives import GradientStep, Objective
from lambdaboost.objectives.base.objective import check_objective

# The smallest leaf of gradient steps: smaller ones lower NDCG by four points on one of three real data sets
# (benchmarks/results/gradient_step.md). With their hessian of 1 an engine's limit counts documents; with λ hessians the
# same limit counts far fewer.
GRADIENT_LEAF = 100

Leaves = Literal["engine", "gradient"]


def stepped(objective: Objective, leaves: Leaves) -> Objective:
    """The objective that the engine trains with: for ``"gradient"`` wrapped in `GradientStep`, unless it is one."""
    check_objective("objective", objective)
    if leaves not in get_args(Leaves):
        raise ValueError(f"leaves is {leaves!r}, expected one of {', '.join(get_args(Leaves))}")
    if leaves == "gradient" and not isinstance(objective, GradientStep):
        return GradientStep(objective)
    objective.refuse_on_engines()
    return objective


def least_documents(objective: Objective, documents: int) -> int | None:
    """The default minimum number of documents in a leaf; None leaves it to the engine.

    100 for gradient steps, or a twentieth of the data if that is less, but at least LightGBM's own 20.
    """
    if not isinstance(objective, GradientStep):
        return None
    return min(GRADIENT_LEAF, max(20, documents // 20))
