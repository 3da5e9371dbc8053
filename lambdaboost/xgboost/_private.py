"""Everything undocumented that lambdaboost uses of XGBoost, as in XGBoost 2.1 to 3.2.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost as xgb

# The functions with which `XGBRanker.fit` makes matrices and metrics.
from xgboost.sklearn import _wrap_evaluation_matrices as evaluation_matrices
from xgboost.sklearn import ltr_metric_decorator

__all__ = [
    "OBJECTIVE_VARIABLE",
    "ROUNDS_VARIABLE",
    "evaluation_matrices",
    "ltr_metric_decorator",
    "move_handle",
    "rewritten",
    "take_over",
    "trained",
]

# The local variables of `xgboost.train` and `xgboost.cv` that hold the objective and the number of rounds.
OBJECTIVE_VARIABLE, ROUNDS_VARIABLE = "obj", "num_boost_round"

_NO_PARENT_SCALAR, _NO_PARENT_VECTOR = 2147483647, -1


def trained(model: Any, data: xgb.DMatrix | None) -> list[tuple[Any, Any]]:
    """Each booster of a callback's `model` with its data: one, or one per fold of `xgboost.cv`."""
    folds = getattr(model, "cvfolds", None)
    return [(model, data)] if folds is None else [(fold.bst, fold.dtrain) for fold in folds]


def move_handle(source: xgb.DMatrix, target: xgb.DMatrix) -> None:
    """Move the matrix in `source` to `target`; `source` is unusable afterwards."""
    xgb.DMatrix.__init__(target, source.handle)
    del source.handle  # otherwise both would free it


def take_over(ranker: Any, booster: xgb.Booster, history: dict[str, Any]) -> None:
    """Set the attributes that `XGBRanker.fit` sets, for its properties to read."""
    ranker._Booster = booster
    ranker._set_evaluation_result(history)


def rewritten(booster: xgb.Booster, scores: int, base_score: float | None = None) -> bytearray:
    """The model as JSON, with one score and plain leaves, or two scores and vector leaves whose second entry is 0."""
    model = json.loads(booster.save_raw(raw_format="json"))
    shape = model["learner"]["learner_model_param"]
    start = np.atleast_1d(json.loads(shape["base_score"]))[0] if base_score is None else base_score
    shape["base_score"] = json.dumps([float(start), 0.0][:scores])
    shape["num_target"] = str(scores)
    rewrite: Callable[[dict[str, Any]], None] = _narrow if scores == 1 else _widen
    for tree in model["learner"]["gradient_booster"]["model"]["trees"]:
        rewrite(tree)
        tree["tree_param"]["size_leaf_vector"] = str(scores)
    return bytearray(json.dumps(model).encode())


def _narrow(tree: dict[str, Any]) -> None:
    """Take leaf values from the first column of the leaf vectors, which a leaf indexes by its right child."""
    vectors = tree.pop("leaf_weights")
    for node in _leaves(tree):
        value = vectors[2 * tree["right_children"][node]]
        tree["split_conditions"][node] = tree["base_weights"][node] = value
        tree["right_children"][node] = -1
    tree["parents"][0] = _NO_PARENT_SCALAR


def _widen(tree: dict[str, Any]) -> None:
    tree["leaf_weights"] = []
    for at, node in enumerate(_leaves(tree)):
        tree["leaf_weights"] += [tree["split_conditions"][node], 0.0]
        tree["right_children"][node] = at
    tree["parents"][0] = _NO_PARENT_VECTOR


def _leaves(tree: dict[str, Any]) -> list[int]:
    return [node for node, left in enumerate(tree["left_children"]) if left == -1]
