"""`Hinge`: the base class of the margin objectives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.objectives.base.objective import Floats, Objective
from lambdaboost.objectives.inference.violators import Violators


class Hinge(Objective):
    """A piecewise linear objective of the scores: a sum over queries of slacks of margin constraints, mostly convex.

    On an engine the gradient is a subgradient. A piecewise linear function has no curvature, so hess is 1 for each
    document, unless the hinge defines another.
    """

    @property
    def convex(self) -> bool:
        """Whether each slack is convex in the scores, so that its tangents are nowhere above it."""
        return True

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return (RELEVANCE,)

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

    def curvature(self, q: Queries) -> Floats:
        """The hessian that engines divide a leaf's gradient by, float64 (n_documents,)."""
        return np.ones(q.n_documents)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ, the negative subgradient, and the stand-in for μ."""
        return -self.violators(scores, q).direction, self.curvature(q)
