"""The weights of a model, and how scores depend on them; the model is not modified.

A linear model is linear in its coefficients, and a sum of trees in its leaf values, so the change of scores for a shift
of the weights needs no further prediction by the model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
ROUNDING = 1e-9  # relative to the spread of the scores


@dataclass(frozen=True, eq=False)
class Weights:
    """The trained weights of a model, and the scores of documents.

    Attributes
    ----------
    names : tuple of str
        The name of each weight, ``(n_weights,)``.
    trained : float64 (n_weights,)
        The trained weights.
    moves : callable
        The change of the scores (n_documents,) if a direction (n_weights,) is added to the weights.
    moving : bool (n_weights,)
        Whether a weight changes score differences.

    """

    names: tuple[str, ...]
    trained: Floats
    moves: Callable[[Floats], Floats]
    moving: NDArray[np.bool_]

    @property
    def scores(self) -> Floats:
        """The scores, up to a constant, (n_documents,)."""
        return self.moves(self.trained)


def weights_of(model: Any, X: Any) -> Weights:
    """The coefficients of a linear model (``coef_``, XGBoost's gblinear), or the leaf values of a LightGBM booster."""
    if hasattr(model, "get_leaf_output"):
        return leaf_weights(model, X)
    if hasattr(model, "save_raw"):
        booster = json.loads(model.save_raw("json"))["learner"]["gradient_booster"]
        if booster["name"] == "gblinear":
            *coefficients, _bias = booster["model"]["weights"]
            return linear_weights(coefficients, X)
    if hasattr(model, "coef_"):
        return linear_weights(model.coef_, X)
    raise TypeError(
        f"model is {type(model).__name__}: give a linear model with coef_, XGBoost's gblinear or a LightGBM booster"
    )


def linear_weights(coefficients: ArrayLike, X: Any) -> Weights:
    """Coefficients, one for each column of an array or DataFrame: the scores are X · w."""
    w, features = np.asarray(coefficients, dtype=np.float64), np.asarray(X)
    if w.shape != features.shape[1:]:
        raise ValueError(f"model has coefficients of shape {w.shape}, X has {features.shape[1]} columns")
    names = map(str, X.columns) if hasattr(X, "columns") else (f"feature {i}" for i in range(w.size))

    def moves(direction: Floats) -> Floats:
        """X · direction, in the precision of X."""
        return np.asarray(features @ direction.astype(features.dtype), dtype=np.float64)

    return Weights(tuple(names), w, moves, features.min(axis=0) != features.max(axis=0))


def leaf_weights(booster: Any, X: Any) -> Weights:
    """Leaf values: the score of a document is the sum of the values of its leaves."""
    at = np.asarray(booster.predict(X, pred_leaf=True), dtype=np.intp).reshape(X.shape[0], -1)
    sizes = [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]
    leaves = [(tree, leaf) for tree, size in enumerate(sizes) for leaf in range(size)]
    trained = np.array([booster.get_leaf_output(*leaf) for leaf in leaves])
    # By tree, so that memory is read in order.
    at = np.ascontiguousarray((at + np.cumsum([0, *sizes[:-1]])).T)

    def moves(direction: Floats) -> Floats:
        total = np.zeros(at.shape[1])
        for leaf in at:
            total += direction[leaf]
        return total

    within = np.bincount(at.ravel(), minlength=trained.size)
    found = Weights(
        tuple(f"tree {t}, leaf {leaf}" for t, leaf in leaves),
        trained,
        moves,
        (within > 0) & (within < at.shape[1]),
    )
    scores = found.scores
    if np.ptp(booster.predict(X, raw_score=True) - scores) > ROUNDING * max(np.ptp(scores), 1e-30):
        raise ValueError("model's scores are not the sum of its leaf values: give a booster of plain trees")
    return found
