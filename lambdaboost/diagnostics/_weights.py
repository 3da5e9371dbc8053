"""The weights of a model, and how the scores of documents follow them; the model itself is only read.

A linear model is linear in its coefficients, and a sum of trees is linear in its leaf values. So a shift of the weights
shifts the scores by a sum that needs no model any more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Weights(ABC):
    """A model's weights as they were trained, and the documents' scores with them.

    Attributes
    ----------
    names : tuple of str
        What each weight is called, ``(n_weights,)``.
    trained : float64 (n_weights,)
        The weights themselves.
    scores : float64 (n_documents,)
        The scores that they give, but for a constant.
    moving : bool (n_weights,)
        Whether a weight adds more to some scores than to others.

    """

    names: tuple[str, ...]
    trained: Floats
    scores: Floats
    moving: NDArray[np.bool_]

    @abstractmethod
    def moves(self, direction: Floats) -> Floats:
        """What adding `direction` (n_weights,) to the weights adds to the scores (n_documents,)."""

    def moves_of(self, weight: int) -> Floats:
        """What one unit more of one weight adds to the scores (n_documents,)."""
        direction = np.zeros(self.trained.size)
        direction[weight] = 1
        return self.moves(direction)


class LinearWeights(Weights):
    """Coefficients: the scores are X · w."""

    def __init__(self, coefficients: ArrayLike, X: Any, names: tuple[str, ...] | None = None) -> None:
        w = np.asarray(coefficients, dtype=np.float64)
        w = w[0] if w.ndim == 2 and len(w) == 1 else w
        if w.ndim != 1:
            raise ValueError(
                f"model.coef_ has shape {w.shape}: give a model of one score, one coefficient a feature"
            )
        if w.size != X.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, the model {w.size} coefficients: give what it was trained on"
            )
        if not np.isfinite(w).all():
            at = int(np.flatnonzero(~np.isfinite(w))[0])
            raise ValueError(f"model.coef_[{at}] is {w[at]}: every weight must be finite")
        self.trained = w
        self.names = _names_of(X) or names or tuple(f"feature {i}" for i in range(w.size))
        self._X = _matrix(X)
        self.scores = np.asarray(self._X @ w, dtype=np.float64)
        self.moving = _varying(self._X)

    def moves(self, direction: Floats) -> Floats:
        """X · direction, in the precision of X: a shift needs no more."""
        return np.asarray(self._X @ direction.astype(self._X.dtype), dtype=np.float64)


def _names_of(X: Any) -> tuple[str, ...] | None:
    return tuple(map(str, X.columns)) if hasattr(X, "columns") else None


def _matrix(X: Any) -> Any:
    """X as a float array or CSR matrix, in its own precision."""
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _varying(X: Any) -> NDArray[np.bool_]:
    """Which columns are not constant, (n_features,)."""
    least, most = X.min(axis=0), X.max(axis=0)
    if not isinstance(X, np.ndarray):
        least, most = least.toarray(), most.toarray()
    return np.asarray(least != most).ravel()
