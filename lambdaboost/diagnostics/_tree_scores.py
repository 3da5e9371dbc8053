"""Scores of documents as the model grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The sum of trees first:last for each document.
Predict = Callable[[int, int], NDArray[Any]]


class TreeScores:
    """Scores updated incrementally, so that a round costs one tree and not the whole model."""

    def __init__(self, n_documents: int) -> None:
        self.trees = 0
        self._scores = np.zeros(n_documents)

    def at(self, trees: int, predict: Predict) -> NDArray[np.float64]:
        """The scores of the first `trees` rounds, as a new array."""
        if trees < self.trees:  # trees were removed
            self.trees = 0
            self._scores[:] = 0
        if trees > self.trees:
            added = np.asarray(predict(self.trees, trees))
            # A second target only serves the splits.
            self._scores += added if added.ndim == 1 else added[:, 0]
            self.trees = trees
        return self._scores.copy()
