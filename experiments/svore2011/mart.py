"""MART's trees by LightGBM: least-squares splits with Newton leaves, the 2011 paper's baseline (eqs. 7 and 8).

LightGBM computes splits and leaves from the same gradient and hessian. Here a round

1. takes λ and μ from the objective at the scores so far,
2. lets LightGBM grow a tree from the gradient −λ with hessian 1, or the weights of the rows: least-squares splits,
3. gives each leaf Newton's step −rate·G/(H + l2), with G and H the sums of its documents.

LightGBM never reads the scores, so the trees that it grew need not be changed between rounds.
"""

from __future__ import annotations

from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from lambdaboost import Queries
from lambdaboost.objectives import Objective

# The largest |G/(H + l2)|. The curvature of a pair in the wrong order vanishes exponentially with its distance and its
# gradient does not, so at high rates each step would be larger than the one before. The engines' own trees have no leaf
# of so little curvature, but least-squares splits do not look at it.
LARGEST_STEP = 1000.0

Array = NDArray[Any]


def train_mart(
    params: dict[str, Any],
    data: lgb.Dataset,
    X: Array,
    q: Queries,
    objective: Objective,
    rounds: int,
    rate: float,
    l2: float = 0.0,
) -> lgb.Booster:
    """A model of some rounds; `X` and `q` are the rows of `data`, and no parameter may sample rows."""
    booster = lgb.Booster({**params, "objective": "none", "learning_rate": rate, "lambda_l2": l2}, data)
    scores: Array = np.zeros(q.n_documents)
    values: list[Array] = []
    for iteration in range(rounds):
        grad, hess = objective.gradient(scores, q, iteration)
        ones = np.ones_like(grad) if q.weight is None else q.weight
        if booster.update(fobj=lambda *_, given=(grad, ones): given):
            continue  # nothing splits
        last = {"start_iteration": booster.current_iteration() - 1, "num_iteration": 1}
        leaf = booster.predict(X, pred_leaf=True, **last).ravel().astype(np.intp)
        g, h = np.bincount(leaf, grad), np.bincount(leaf, hess) + l2
        step = np.divide(g, h, where=h > 0, out=np.copysign(np.where(g == 0, 0.0, np.inf), g))
        values.append(-rate * np.clip(step, -LARGEST_STEP, LARGEST_STEP))
        scores += values[-1][leaf]
    # Where the first rounds have no split, LightGBM begins with a tree of a single leaf, 0.
    for tree, of_leaves in enumerate(values, booster.num_trees() - len(values)):
        for leaf_, value in enumerate(of_leaves):
            booster.set_leaf_output(tree, leaf_, float(value))
    return booster
