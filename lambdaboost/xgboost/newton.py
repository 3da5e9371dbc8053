"""Least-squares splits with Newton leaves, the step of MART and the 2011 paper, which XGBoost itself does not support.

The structure of a tree minimises the squared error to λ. Then the value of each leaf is −eta·G/(H + lambda), with G and
H the summed gradient and hessian of its documents; G/(H + lambda) is at most ``max_delta_step``, by default 1000.

XGBoost can grow a tree from other gradients than those of its leaves only if leaves are vectors. So there is a second
score during training, which is always 0, and predictions have two columns. The finished model is rewritten with plain
leaves: an ordinary booster. A round takes 1.4 to 1.8 times as long as with ``leaves="engine"``. Requires XGBoost ≥ 3.2
and ``tree_method="hist"``; dropout, categories, base margins, and monotone or interaction constraints are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost as xgb

from lambdaboost._xgboost import rewritten
from lambdaboost.engines.leaves import LARGEST_STEP, least_squares
from lambdaboost.objectives import Objective


def settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """XGBoost's parameters for two scores per document."""
    return {
        **params,
        "max_delta_step": LARGEST_STEP if params.get("max_delta_step") is None else params["max_delta_step"],
        "tree_method": "hist",
        "multi_strategy": "multi_output_tree",
        "num_target": 2,
        # Otherwise XGBoost would set leaves of smaller curvature to 0.
        "min_child_weight": 0,
    }


def first_column(preds: Any) -> Any:
    """The scores, from predictions with one column or two."""
    return np.ascontiguousarray(preds[:, 0]) if preds.ndim == 2 else preds


def least_squares_splits(objective: Objective) -> Any:
    """An XGBoost objective with two scores, the second without gradient, and least-squares splits."""
    try:
        from xgboost.objective import TreeObjective
    except ImportError:
        raise NotImplementedError(
            f"leaves='newton' needs xgboost ≥ 3.2, here is {xgb.__version__}: upgrade, or use leaves='gradient'"
        ) from None

    class LeastSquaresSplits(TreeObjective):
        def __init__(self) -> None:
            super().__init__()
            self.objective = objective  # read by `objective_in_training`

        def __call__(self, iteration: int, preds: Any, data: xgb.DMatrix) -> tuple[Any, Any]:
            grad, hess, of_splits = least_squares(objective, first_column(preds), data)
            self.split_hess = of_splits.astype(np.float32)  # XGBoost requests the gradient of the splits next
            return _with_zeros(grad), _with_zeros(hess)

        def split_grad(self, iteration: int, grad: Any, hess: Any) -> tuple[Any, Any]:
            return np.ascontiguousarray(grad[:, :1]), self.split_hess[:, None]

    return LeastSquaresSplits()


def _with_zeros(column: Any) -> Any:
    both = np.zeros((column.size, 2), dtype=np.float32)
    both[:, 0] = column
    return both


def narrowed(booster: xgb.Booster, params: Mapping[str, Any]) -> xgb.Booster:
    """The same model with plain leaves and one score."""
    plain = {name: value for name, value in params.items() if name not in ("num_target", "multi_strategy")}
    return xgb.Booster(plain, model_file=rewritten(booster, 1))


def widened(model: Any, base_score: float | None) -> xgb.Booster:
    """A model with a second score of 0, to be continued; as in XGBoost, from `base_score` if given."""
    return xgb.Booster(model_file=rewritten(xgb.Booster(model_file=model), 2, base_score))
