"""The weights of a model, and how scores depend on them; the model is not modified.

A linear model is linear in its coefficients, and a sum of trees in its leaf values, so the change of scores for a shift
of the weights needs no further prediction by the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


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


def linear_weights(coefficients: ArrayLike, features: Floats) -> Weights:
    """Coefficients, one for each column: the scores are X · w."""
    w = np.asarray(coefficients, dtype=np.float64)
    names = tuple(f"feature {i}" for i in range(w.size))

    def moves(direction: Floats) -> Floats:
        """X · direction, in the precision of X."""
        return np.asarray(features @ direction.astype(features.dtype), dtype=np.float64)

    return Weights(names, w, moves, features.min(axis=0) != features.max(axis=0))


def leaf_weights(booster: Any, features: Floats) -> Weights:
    """Leaf values of LightGBM's trees: the score of a document is the sum of the values of its leaves."""
    at = np.asarray(booster.predict(features, pred_leaf=True), dtype=np.intp).reshape(len(features), -1)
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
    names = tuple(f"tree {tree}, leaf {leaf}" for tree, leaf in leaves)
    return Weights(names, trained, moves, (within > 0) & (within < at.shape[1]))
