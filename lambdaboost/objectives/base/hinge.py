"""`Hinge`: what the margin objectives share, and what a cutting plane asks of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.objectives.base.objective import Floats, Objective
from lambdaboost.objectives.inference.violators import Violators


class Hinge(Objective):
    """A piecewise linear objective of the scores: a sum over queries of slacks of margin constraints, mostly convex.

    As an engine's objective its gradient is a subgradient, and the hessian that engines divide by is 1 a document where
    the rule says nothing else: a piecewise linear function has no curvature.
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
        """Which queries have constraints at all, bool (n_queries,)."""
        raise NotImplementedError

    def per_query(self, scores: ArrayLike, q: Queries) -> Floats:
        """The slack ξ of each query, by which its most violated constraint misses; float64 (n_queries,), ≥ 0."""
        s = q.scores(scores)
        return self.violators(s, q).slacks(s, q)

    def curvature(self, q: Queries) -> Floats:
        """What engines divide a leaf's gradient by, float64 (n_documents,)."""
        return np.ones(q.n_documents)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ, the negative subgradient, and what stands in for μ."""
        return -self.violators(scores, q).direction, self.curvature(q)
