"""`Hinge`: the base class of the margin objectives, and the violated constraints that they find."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.objective import Floats, LambdaMu, Objective


class Violators(NamedTuple):
    """The most violated constraint of each query at some scores."""

    loss: Floats  # Δ(y*, ŷ), (n_queries,)
    direction: Floats  # ∂(s·φ(ŷ) − s·φ(y*))/∂s of each document, which depends on s through ŷ only

    def slacks(self, scores: Floats, q: Queries) -> Floats:
        """ξ of each query, Δ + s·φ(ŷ) − s·φ(y*), float64 (n_queries,)."""
        return self.loss + np.add.reduceat(self.direction * scores, q.offsets[:-1])


class Hinge(Objective, registered=False):
    """A piecewise linear objective of the scores: a sum over queries of slacks of margin constraints, mostly convex.

    On an engine the gradient is a subgradient. A piecewise linear function has no curvature, so hess is 1 for each
    document.
    """

    @property
    def convex(self) -> bool:
        """Whether each slack is convex in the scores, so that its tangents are nowhere above it."""
        return True

    def violators(self, scores: Floats, q: Queries) -> Violators:
        """The most violated constraint of each query; `scores` are checked float64."""
        raise NotImplementedError

    def counted(self, q: Queries) -> NDArray[np.bool_]:
        """Which queries have any constraints, bool (n_queries,)."""
        raise NotImplementedError

    def per_query(self, scores: ArrayLike, q: Queries) -> Floats:
        """The slack ξ of each query, the violation of its most violated constraint; float64 (n_queries,), ≥ 0."""
        s = q.scores(scores)
        return self.violators(s, q).slacks(s, q)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ, the negative subgradient, and the stand-in for μ."""
        return -self.violators(scores, q).direction, np.ones(q.n_documents)
