"""The three ways to turn λ and μ into trees."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from lambdaboost.calls.data import queries_of
from lambdaboost.objectives import GradientStep, Objective
from lambdaboost.objectives.base.objective import check_objective

# The smallest leaf of gradient steps: smaller ones lower NDCG by four points on one of three real data sets
# (benchmarks/results/gradient_step.md). With their hessian of 1 an engine's limit counts documents; with λ hessians the
# same limit counts far fewer.
GRADIENT_LEAF = 100

# The largest Newton step |G/(H + λ2)|, before the learning rate, where ``max_delta_step`` is not given. The curvature
# of a pair in the wrong order vanishes exponentially with its distance while its gradient does not, so at high learning
# rates each step would be larger than the one before. The engines' own trees have no leaf of so little curvature
# (``min_sum_hessian_in_leaf``, ``min_child_weight``), but least-squares splits do not look at it.
LARGEST_STEP = 1000.0

Leaves = Literal["engine", "gradient", "newton"]


def stepped(objective: Objective, leaves: Leaves) -> Objective:
    """The objective whose gradient and hessian the engine receives for a kind of leaves.

    ``"gradient"`` wraps it in `GradientStep`, unless it is one; for ``"newton"`` the adapter replaces the splits.
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


def least_squares(objective: Objective, scores: Any, data: Any) -> tuple[Any, Any, Any]:
    """λ, μ, and the hessian of splits that minimise the squared error to λ: 1, or the weights of the rows."""
    grad, hess = objective(scores, data)
    weights = queries_of(data, objective.sources).weight
    return grad, hess, np.ones_like(grad) if weights is None else weights


def least_documents(objective: Objective, documents: int) -> int | None:
    """The default minimum number of documents in a leaf; None leaves it to the engine.

    100 for gradient steps, or a twentieth of the data if that is less, but at least LightGBM's own 20.
    """
    if not isinstance(objective, GradientStep):
        return None
    return min(GRADIENT_LEAF, max(20, documents // 20))
