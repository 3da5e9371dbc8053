"""`Violators`: the most violated constraint of each query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries


class Violators(NamedTuple):
    """The most violated constraint of each query at some scores.

    Attributes
    ----------
    loss : float64 (n_queries,)
        Δ(y*, ŷ).
    direction : float64 (n_documents,)
        ∂(s·φ(ŷ) − s·φ(y*))/∂s, which depends on s through ŷ only.

    """

    loss: NDArray[np.float64]
    direction: NDArray[np.float64]

    def slacks(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """ξ of each query, Δ + s·φ(ŷ) − s·φ(y*), float64 (n_queries,)."""
        return self.loss + np.add.reduceat(self.direction * scores, q.offsets[:-1])
