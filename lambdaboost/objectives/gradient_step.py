"""GradientStep: normalised gradient descent instead of Newton steps."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_choice
from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.objective import Floats, LambdaMu, check_objective
from lambdaboost.objectives.base.wrapper import Wrapper

Normalize = Literal["query", "all", "none"]


class GradientStep(Wrapper):
    r"""Gradient descent on normalised λ (2011 paper, §5.3): least-squares splits, leaves of mean λ.

    λ of each query is divided by its population standard deviation, hess = 1 for every document. The deviation is that
    of the documents with a label in a source that the objective reads: without a label they have no λ, and many of
    them would make those of the others large.

    Parameters
    ----------
    objective : Objective
        The objective that λ comes from.
    normalize : "query", "all" or "none"
        Divide by the standard deviation of each query's λ, of all λ together, or leave λ unchanged. λ stay as they are
        where their standard deviation is below 1e-38: equal λ, or a right order with scores some 87 and more apart.

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
        labelled = q.memo(("labelled", self.sources), lambda: _labelled(q, self.sources))
        if self.normalize == "query":
            lam = lam / np.repeat(_by_query(lam, q, labelled), q.sizes)
        elif self.normalize == "all":
            lam = lam / _overall(lam, _product(q.weight, labelled))
        return lam, np.ones(q.n_documents)


def _labelled(q: Queries, sources: tuple[str, ...]) -> NDArray[np.bool_] | None:
    """The documents with a label in one of these sources; None where all have one."""
    has = np.zeros(q.n_documents, dtype=bool)
    for name in sources:
        has |= ~np.isnan(q.source(name, allow_negative=True))
    return None if has.all() else has


def _product(weight: NDArray[np.floating] | None, labelled: NDArray[np.bool_] | None) -> Any:
    """What each document counts in a mean; None where all count the same."""
    return weight if labelled is None else labelled * (1.0 if weight is None else weight)


def _overall(lam: Floats, weights: NDArray[np.floating] | None) -> Floats:
    """Population standard deviation of all λ, each counted as often as its weight says."""
    if weights is None:
        return _at_least_normal(lam.var())
    total = float(weights.sum()) or 1.0
    mean = (weights * lam).sum() / total
    return _at_least_normal((weights * (lam - mean) ** 2).sum() / total)


def _by_query(lam: Floats, q: Queries, labelled: NDArray[np.bool_] | None) -> Floats:
    """Population standard deviation of λ in each query over its labelled documents, (n_queries,)."""
    # λ of a query sum to 0 up to rounding, so the mean is subtracted before squaring.
    starts = q.offsets[:-1]
    n = q.sizes if labelled is None else np.maximum(np.add.reduceat(labelled, starts, dtype=np.int64), 1)
    mean = np.add.reduceat(lam if labelled is None else lam * labelled, starts) / n
    squares = (lam - np.repeat(mean, q.sizes)) ** 2
    return _at_least_normal(np.add.reduceat(squares if labelled is None else squares * labelled, starts) / n)


def _at_least_normal(variance: Any) -> Floats:
    """The standard deviation, 1 where it is below float32's normal range.

    There λ lose digits, and rounding errors would be scaled up to full forces.
    """
    spread = np.sqrt(variance)
    return np.where(spread >= np.finfo(np.float32).tiny, spread, 1.0)
