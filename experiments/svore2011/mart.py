"""MART's trees on both engines: least-squares splits with Newton leaves, the 2011 paper's baseline (eqs. 7 and 8).

An engine computes splits and leaves from the same gradient and hessian. Here a round

1. takes λ and μ from the objective at the scores so far,
2. lets the engine grow a tree from the gradient −λ with hessian 1, or the weights of the rows: least-squares splits,
3. gives each leaf Newton's step −rate·G/(H + l2), with G and H the sums of its documents.

The engine never reads the scores, so the trees that it grew need not be changed between rounds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from lambdaboost import Queries
from lambdaboost.objectives import Objective

# The largest |G/(H + l2)|. The curvature of a pair in the wrong order vanishes exponentially with its distance and its
# gradient does not, so at high rates each step would be larger than the one before. The engines' own trees have no leaf
# of so little curvature, but least-squares splits do not look at it.
LARGEST_STEP = 1000.0

Array = NDArray[Any]
# Grows a tree from a gradient and a hessian and returns the leaf of each row; None if nothing splits.
Grow = Callable[[Array, Array], Array | None]


def newton_leaves(
    objective: Objective, q: Queries, rounds: int, rate: float, l2: float, grow: Grow, precision: type
) -> list[Array]:
    """Train for a number of rounds; the values of each tree's leaves, summed as precisely as the engine does."""
    scores: Array = np.zeros(q.n_documents, precision)
    weights, values = q.weight, []
    for iteration in range(rounds):
        grad, hess = objective.gradient(scores, q, iteration)
        leaf = grow(grad, np.ones_like(grad) if weights is None else weights)
        if leaf is None:
            continue
        g, h = np.bincount(leaf, grad), np.bincount(leaf, hess) + l2
        step = np.divide(g, h, where=h > 0, out=np.copysign(np.where(g == 0, 0.0, np.inf), g))
        values.append((-rate * np.clip(step, -LARGEST_STEP, LARGEST_STEP)).astype(precision))
        scores += values[-1][leaf]
    return values


def train_lightgbm(
    params: dict[str, Any],
    data: lgb.Dataset,
    X: Array,
    q: Queries,
    objective: Objective,
    rounds: int,
    rate: float,
    l2: float = 0.0,
) -> lgb.Booster:
    """A LightGBM model; `X` and `q` are the rows of `data`, and no parameter may sample rows."""
    booster = lgb.Booster({**params, "objective": "none", "learning_rate": rate, "lambda_l2": l2}, data)

    def grow(grad: Array, hess: Array) -> Array | None:
        if booster.update(fobj=lambda *_: (grad, hess)):
            return None
        last = {"start_iteration": booster.current_iteration() - 1, "num_iteration": 1}
        return booster.predict(X, pred_leaf=True, **last).ravel().astype(np.intp)

    values = newton_leaves(objective, q, rounds, rate, l2, grow, np.float64)
    # Where the first rounds have no split, LightGBM begins with a tree of a single leaf, 0.
    for tree, of_leaves in enumerate(values, booster.num_trees() - len(values)):
        for leaf, value in enumerate(of_leaves):
            booster.set_leaf_output(tree, leaf, float(value))
    return booster


def train_xgboost(
    params: dict[str, Any],
    data: xgb.DMatrix,
    q: Queries,
    objective: Objective,
    rounds: int,
    rate: float,
    l2: float = 0.0,
) -> xgb.Booster:
    """An XGBoost model; `q` are the rows of `data`, and ``min_child_weight`` counts documents."""
    # The name is kept with the model; the gradients are the objective's.
    own = {"objective": "rank:ndcg", "base_score": 0.0, "eta": rate, "lambda": l2}
    booster = xgb.Booster({**params, **own}, [data])

    def grow(grad: Array, hess: Array) -> Array:
        done = booster.num_boosted_rounds()
        booster.update(data, done, fobj=lambda *_: (grad, hess))
        last = booster[done : done + 1]  # of a single tree XGBoost tells the leaves only so
        return last.predict(data, pred_leaf=True).ravel().astype(np.intp)

    values = newton_leaves(objective, q, rounds, rate, l2, grow, np.float32)
    return xgb.Booster(params, model_file=_with_leaves(booster, values))


def _with_leaves(booster: xgb.Booster, values: list[Array]) -> bytearray:
    """The model with these values in its leaves, which are by node: `pred_leaf` gives the number of the node."""
    model = json.loads(booster.save_raw(raw_format="json"))
    trees = model["learner"]["gradient_booster"]["model"]["trees"]
    for tree, of_nodes in zip(trees, values, strict=True):
        for node, left in enumerate(tree["left_children"]):
            if left == -1:
                tree["split_conditions"][node] = tree["base_weights"][node] = float(of_nodes[node])
    return bytearray(json.dumps(model).encode())
