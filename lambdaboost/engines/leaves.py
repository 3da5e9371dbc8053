"""The three ways to turn λ and μ into trees."""

from __future__ import annotations

from typing import Literal, get_args

from lambdaboost.objectives import GradientStep, Objective
from lambdaboost.objectives.base.objective import check_objective

# What a gradient step needs: smaller leaves cost it four points of NDCG on one real set of three
# (docs/gradient_step.md). Its hessian of 1 lets an engine limit leaves by rows, while λ hessians count far fewer
# of the same rows.
GRADIENT_LEAF = 100

# The largest Newton step |G/(H + λ2)|, before the learning rate, where ``max_delta_step`` is not given. The curvature
# of a pair in the wrong order vanishes exponentially with its distance while its gradient does not, so at high learning
# rates each step would be larger than the one before. The engines' own trees have no leaf of so little curvature
# (``min_sum_hessian_in_leaf``, ``min_child_weight``), but least-squares splits do not look at it.
LARGEST_STEP = 1000.0

Leaves = Literal["engine", "gradient", "newton"]


def stepped(objective: Objective, leaves: Leaves) -> Objective:
    """The objective whose gradient and hessian the engine gets for a kind of leaves.

    ``"engine"`` leaves it as it is: splits and leaves by gradient over hessian. ``"gradient"`` wraps it in
    `GradientStep`, unless it is one. ``"newton"`` leaves it as it is too; the adapter swaps the splits.

    Raises
    ------
    TypeError, ValueError
        Where `objective` is none, `leaves` is unknown, or Newton's step meets a curvature that changes sign.

    """
    check_objective("objective", objective)
    if leaves not in get_args(Leaves):
        raise ValueError(f"leaves is {leaves!r}, expected one of {', '.join(get_args(Leaves))}")
    if leaves == "gradient" and not isinstance(objective, GradientStep):
        return GradientStep(objective)
    if leaves == "newton" and isinstance(objective, GradientStep):
        raise ValueError(
            f"leaves='newton' of {objective!r}: a gradient step has no curvature; use leaves='gradient'"
        )
    objective.refuse_on_engines()
    return objective


def least_documents(objective: Objective, documents: int) -> int | None:
    """The documents that a leaf should hold at least, where the user did not say; None leaves it to the engine.

    100 for gradient steps, or a twentieth of the data where that is less, but no less than LightGBM's own 20.
    """
    if not isinstance(objective, GradientStep):
        return None
    return min(GRADIENT_LEAF, max(20, documents // 20))
