"""The leaf values of a booster as its weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.optimality.weights import Floats, LinearWeights, Weights

ONE_SCORE = "model gives several scores per document: give a booster with one score, such as a ranker"
ROUNDING = 1e-4  # relative to the spread of the scores: XGBoost sums its trees in float32


class LeafWeights(Weights):
    """Leaf values: the score of a document is the sum of the values of its leaves.

    Parameters
    ----------
    leaves : sequence of (names, values)
        The leaves of each tree.
    at : int array (n_documents, n_trees)
        The index in `values` of each document's leaf in each tree.

    """

    def __init__(self, leaves: Sequence[tuple[list[str], ArrayLike]], at: NDArray[Any]) -> None:
        values = [np.asarray(of_tree, dtype=np.float64) for _, of_tree in leaves]
        first = np.cumsum([0, *(v.size for v in values)])[:-1]
        self.names = tuple(name for names, _ in leaves for name in names)
        self.trained = np.concatenate([np.empty(0), *values])
        # By tree, so that memory is read in order.
        self._at = np.ascontiguousarray((at + first).T, dtype=np.intp)
        self.scores = self.moves(self.trained)
        within = np.bincount(self._at.ravel(), minlength=self.trained.size)
        self.moving = (within > 0) & (within < at.shape[0])

    def moves(self, direction: Floats) -> Floats:
        """The sum over the trees of the change of the document's leaf."""
        total = np.zeros(self._at.shape[1])
        for leaf in self._at:
            total += direction[leaf]
        return total


def lightgbm_weights(model: Any, X: Any) -> Weights:
    """Leaf values of the trees that a LightGBM booster or estimator predicts with."""
    booster = getattr(model, "booster_", model)
    if booster.num_model_per_iteration() != 1:
        raise ValueError(ONE_SCORE)
    at = np.asarray(booster.predict(X, pred_leaf=True), dtype=np.intp).reshape(X.shape[0], -1)
    trees = booster.dump_model(num_iteration=at.shape[1])["tree_info"]
    leaves = []
    for t, tree in enumerate(trees[: at.shape[1]]):
        n = int(tree["num_leaves"])
        leaves.append((_names(t, range(n)), [booster.get_leaf_output(t, leaf) for leaf in range(n)]))
    weights = LeafWeights(leaves, at)
    _check_sum(weights, booster.predict(X, raw_score=True))
    return weights


def xgboost_weights(model: Any, X: Any) -> Weights:
    """Leaf values of an XGBoost booster or estimator, or the coefficients of a gblinear one."""
    import xgboost as xgb

    booster = model
    if hasattr(model, "get_booster"):
        booster = model.get_booster()
        # Estimators predict with the trees up to the best round, boosters with all trees.
        if booster.attr("best_iteration") is not None:
            booster = booster[: int(booster.attr("best_iteration")) + 1]
    learner = json.loads(booster.save_raw("json"))["learner"]
    shape = learner["learner_model_param"]
    if int(shape["num_class"]) > 1 or int(shape["num_target"]) > 1:
        raise ValueError(ONE_SCORE)
    gradient_booster = learner["gradient_booster"]
    if gradient_booster["name"] == "gblinear":
        *coefficients, _bias = gradient_booster["model"]["weights"]
        names = tuple(learner.get("feature_names") or ()) or None
        return LinearWeights(coefficients, X, names)
    data = xgb.DMatrix(X)
    weights = _tree_weights(gradient_booster, booster.predict(data, pred_leaf=True), X.shape[0])
    _check_sum(weights, booster.predict(data, output_margin=True))
    return weights


def _tree_weights(gradient_booster: dict[str, Any], nodes: NDArray[Any], n_documents: int) -> Weights:
    """XGBoost's leaves: nodes without children, whose values are stored as split conditions."""
    trees = gradient_booster.get("gbtree", gradient_booster)["model"]["trees"]
    # Each tree of DART has its own weight.
    factors = gradient_booster.get("weight_drop", [1.0] * len(trees))
    at = np.asarray(nodes, dtype=np.intp).reshape(n_documents, -1)
    leaves = []
    for t, (tree, factor) in enumerate(zip(trees, factors, strict=True)):
        of_tree = np.flatnonzero(np.asarray(tree["left_children"]) == -1)
        values = factor * np.asarray(tree["split_conditions"], dtype=np.float64)[of_tree]
        leaves.append((_names(t, of_tree), values))
        at[:, t] = np.searchsorted(of_tree, at[:, t])
    return LeafWeights(leaves, at)


def _names(tree: int, leaves: Any) -> list[str]:
    return [f"tree {tree}, leaf {leaf}" for leaf in leaves]


def _check_sum(weights: Weights, predicted: ArrayLike) -> None:
    """Raise if scores are not the sum of leaf values, as with linear trees."""
    rest = np.asarray(predicted, dtype=np.float64) - weights.scores
    if rest.size and np.ptp(rest) > ROUNDING * max(np.ptp(weights.scores), 1e-30):
        raise ValueError(
            "model's scores are not the sum of its leaf values, as with linear trees: "
            "give a booster of plain trees"
        )
