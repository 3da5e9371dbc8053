"""The weights of a model, and how scores depend on them; the model is not modified.

A linear model is linear in its coefficients, and a sum of trees in its leaf values, so the change of scores for a shift
of the weights needs no further prediction by the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Weights(ABC):
    """The trained weights of a model, and the scores of documents.

    Attributes
    ----------
    names : tuple of str
        The name of each weight, ``(n_weights,)``.
    trained : float64 (n_weights,)
        The trained weights.
    scores : float64 (n_documents,)
        Their scores, up to a constant.
    moving : bool (n_weights,)
        Whether a weight changes score differences.

    """

    names: tuple[str, ...]
    trained: Floats
    scores: Floats
    moving: NDArray[np.bool_]

    @abstractmethod
    def moves(self, direction: Floats) -> Floats:
        """The change of the scores (n_documents,) if `direction` (n_weights,) is added to the weights."""

    def moves_of(self, weight: int) -> Floats:
        """The change of the scores (n_documents,) per unit of one weight."""
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
                f"model.coef_ has shape {w.shape}: give a model with one score and one coefficient per feature"
            )
        if w.size != X.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, the model {w.size} coefficients: give the features that it was trained on"
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
        """X · direction, in the precision of X."""
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
