"""GradientStep: normalised gradient descent instead of Newton steps."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_choice
from lambdaboost.datasets import Queries
from lambdaboost.objectives.composite import Wrapper
from lambdaboost.objectives.objective import Floats, LambdaMu, check_objective

Normalize = Literal["query", "none"]


class GradientStep(Wrapper):
    r"""Gradient descent on normalised λ (2011 paper, §5.3): least-squares splits, leaves of mean λ.

    λ of each query is divided by its population standard deviation, hess = 1 for every document. The deviation is that
    of the documents with a label in a source that the objective reads: without a label they have no λ, and many of
    them would inflate those of the others.

    Parameters
    ----------
    objective : Objective
        The objective that λ comes from.
    normalize : "query" or "none"
        Divide by the standard deviation of each query's λ, or leave λ unchanged. A query whose λ have
        a standard deviation below 1e-38 is not scaled: equal λ, or the right order by a wide margin.

    Examples
    --------
    >>> from lambdaboost import GradientStep, LambdaRank, Queries
    >>> grad, hess = GradientStep(LambdaRank()).gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad, hess
    (array([ 1., -1.], dtype=float32), array([1., 1.], dtype=float32))

    """

    normalize: Normalize = "query"

    def __post_init__(self) -> None:
        check_objective("objective", self.objective)
        check_choice("normalize", self.normalize, Normalize)

    curvature_changes_sign = False  # μ is 1
    counts_documents = True

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ of unit spread, and ones."""
        # In float64, since squares have twice the range.
        lam = self.objective.lambdas(scores, q, iteration)[0].astype(np.float64)
        if self.normalize == "query":
            lam = lam / np.repeat(self._spread(lam, q), q.sizes)
        return lam, np.ones(q.n_documents)

    def _spread(self, lam: Floats, q: Queries) -> Floats:
        """Population standard deviation of λ in each query over its labelled documents, (n_queries,).

        1 where it is below float32's normal range: there λ lose digits, and rounding errors would be scaled up to full
        forces.
        """
        labelled, n = q.memo(("labelled", self.sources), lambda: _labelled(q, self.sources))
        # The mean, 0 up to rounding, is subtracted before squaring.
        mean = np.repeat(np.add.reduceat(lam, q.offsets[:-1]) / n, q.sizes)
        squares = np.where(labelled, lam - mean, 0.0) ** 2
        spread = np.sqrt(np.add.reduceat(squares, q.offsets[:-1]) / n)
        return np.where(spread >= np.finfo(np.float32).tiny, spread, 1.0)


def _labelled(q: Queries, sources: tuple[str, ...]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which documents have a label in one of these sources, and how many of each query, at least 1."""
    has = np.zeros(q.n_documents, dtype=bool)
    for name in sources:
        has |= ~np.isnan(q.source(name, allow_negative=True))
    return has, np.maximum(np.add.reduceat(has, q.offsets[:-1], dtype=np.int64), 1)
