"""GradientStep: normalised gradient descent instead of Newton steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from lambdaboost._checks import check_choice
from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.prepared import Round
from lambdaboost.objectives.objective import LambdaFunction, LambdaMu, Needs, Objective, check_objective

Normalize = Literal["query", "none"]
# Of the largest μ of a query: where the spread of its λ is less, forces cancel, and λ are their rounding errors.
ROUNDING = 16 * np.finfo(np.float64).eps


class GradientStep(Objective):
    r"""Gradient descent on normalised λ (2011 paper, §5.3): least-squares splits, leaves of mean λ.

    λ of each query is divided by its population standard deviation, hess = 1 for every document. The deviation is that
    of the documents with a label in a source that the objective reads: those without one usually have λ = 0, would
    lower the deviation, and so inflate the λ of the others. All count where the objective reads no labels.

    Parameters
    ----------
    objective : Objective
        The objective that λ comes from.
    normalize : "query" or "none"
        Divide by the standard deviation of each query's λ, or leave λ unchanged. A query is not scaled if that
        deviation is below 1e-38 (equal λ, or the right order by a wide margin) or 4e-15 of its largest μ (forces that
        cancel, of which rounding errors are left).

    Examples
    --------
    >>> from lambdaboost import GradientStep, LambdaRank, Queries
    >>> grad, hess = GradientStep(LambdaRank()).gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad, hess
    (array([ 1., -1.], dtype=float32), array([1., 1.], dtype=float32))

    """

    objective: Objective
    normalize: Normalize = "query"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_objective("objective", self.objective)
        check_choice("normalize", self.normalize, Normalize)

    @property
    def needs(self) -> Needs:
        """What the objective needs; μ is 1."""
        return replace(self.objective.needs, sign_changes=False, counts_documents=True)

    def prepare(self, q: Queries) -> LambdaFunction:
        """λ of the objective, each query over its standard deviation, and ones."""
        of_objective, ones = self.objective.prepare(q), np.ones(q.n_documents, dtype=np.float32)
        if self.normalize == "none":
            return lambda now: (of_objective(now)[0], ones)

        # Which documents have a label in one of the sources, if there are any, and how many of each query, at least 1.
        labelled = np.full(q.n_documents, not self.sources)
        for name in self.sources:
            labelled |= ~np.isnan(q.source(name, allow_negative=True))
        starts, sizes = q.offsets[:-1], q.sizes
        counts = np.maximum(np.add.reduceat(labelled, starts, dtype=np.int64), 1)

        def lambda_mu(now: Round) -> LambdaMu:
            lam, mu = of_objective(now)
            lam = lam.astype(np.float64)  # since squares have twice the range
            # How far labelled documents are from their mean, 0 up to rounding; in place, since memory costs more time.
            apart = np.where(labelled, lam, 0.0)
            apart -= np.repeat(np.add.reduceat(apart, starts) / counts, sizes)
            apart *= labelled
            apart *= apart  # squares from here on
            spread = np.sqrt(np.add.reduceat(apart, starts) / counts)
            # Where forces cancel, only rounding errors are left, which must not be scaled up to unit variance; and
            # below float32's normal range λ lose digits.
            rounding = ROUNDING * np.maximum.reduceat(np.abs(mu), starts)
            spread[spread < np.maximum(rounding, np.finfo(np.float32).tiny)] = 1.0
            # Of λ above 1e154, whose squares overflow: `Bound.gradient` refuses NaN.
            spread[np.isinf(spread)] = np.nan
            return lam / np.repeat(spread, sizes), ones

        return lambda_mu
