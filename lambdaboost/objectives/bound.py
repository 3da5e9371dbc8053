"""`Bound`: an objective on its queries, with what does not depend on the scores found once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets.arrays import as_array
from lambdaboost.engines.base import Gradient
from lambdaboost.objectives.kernels.prepared import LambdaFunction, LambdaMu, Round

WIDEST_SPAN = 1e290  # the most that two scores of a query may differ by
ROUNDING = 1e-6  # of the largest hessian: one below 0 by no more is 0


@dataclass(frozen=True, eq=False)
class Bound:
    """An objective bound to its queries by `Objective.on`; read-only.

    >>> from lambdaboost import LambdaRank, Queries
    >>> bound = LambdaRank().on(Queries([0, 1], sizes=[2]))
    >>> lam, mu = bound([0.0, 0.0], iteration=0)
    >>> lam.round(4), bound.gradient([0.0, 0.0])[0].round(4)
    (array([-0.1845,  0.1845], dtype=float32), array([ 0.1845, -0.1845], dtype=float32))
    """

    objective: object  # for messages
    sign_changes: bool  # whether its μ may be below 0
    offsets: NDArray[np.int64]  # of the queries
    weight: NDArray[np.float32] | None  # of each document
    lambda_mu: LambdaFunction  # what `prepare` of the objective gave: a closure, or `PreparedPairs`

    def __call__(self, scores: ArrayLike, iteration: int = 0) -> LambdaMu:
        """λ and μ of every document, before weights, (n_documents,) each.

        Raises as `Objective.gradient` does, but scores are taken by place: the index of a pandas Series is not read.
        """
        if isinstance(iteration, bool) or not isinstance(iteration, int | np.integer) or iteration < 0:
            raise ValueError(f"iteration is {iteration!r}: boosting rounds are whole numbers counted from 0")
        if type(scores) is not np.ndarray:  # both engines pass one
            scores = as_array(scores)
        s, n = np.ascontiguousarray(scores, dtype=np.float64), int(self.offsets[-1])
        if s.shape != (n,):
            raise ValueError(f"scores has shape {s.shape}, expected ({n},): one score per document")
        # NaN where a score is NaN, and infinite or NaN where one is infinite.
        spread = float(s.max()) - float(s.min())
        if not spread <= WIDEST_SPAN:
            check_finite_and_near(s, self.offsets)
        return self.lambda_mu(Round(s, spread, int(iteration)))

    def gradient(self, scores: ArrayLike, iteration: int = 0) -> Gradient:
        """Gradient −λ and hessian μ times the weights, float32 (n_documents,): what engines take."""
        lam, mu = self(scores, iteration)
        # In an array of its own, since a user's objective may keep those that it returns. 0 − λ is never −0.
        derivatives = np.empty((2, lam.size), np.float32)
        np.subtract(0.0, lam, out=derivatives[0], casting="same_kind")
        derivatives[1] = mu
        if self.weight is not None:
            derivatives *= self.weight
        finite = np.isfinite(derivatives)
        if not finite.all():
            at, row = (int(index) for index in np.argwhere(~finite)[0])
            raise ValueError(
                f"{('grad', 'hess')[at]}[{row}] of {self.objective!r} is {derivatives[at, row]} in round {iteration}: "
                "both engines would continue silently; look at its schedules and weights, and at the scores and labels "
                "of that document's query"
            )
        hess = derivatives[1]
        if not self.sign_changes and hess.min() < -ROUNDING * hess.max():
            row = int(hess.argmin())
            raise ValueError(
                f"hess[{row}] of {self.objective!r} is {hess[row]:g} in round {iteration}: both engines would divide "
                f"by sums of either sign silently; train with GradientStep({self.objective!r})"
            )
        return derivatives[0], hess


def check_finite_and_near(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
    """Raise where a score is not finite, or two of one query are so far apart that differences overflow."""
    finite = np.isfinite(scores)
    if not finite.all():
        row = int(finite.argmin())
        raise ValueError(f"scores[{row}] is {scores[row]}: every score must be finite")
    with np.errstate(over="ignore"):
        span = np.maximum.reduceat(scores, offsets[:-1]) - np.minimum.reduceat(scores, offsets[:-1])
    if (span > WIDEST_SPAN).any():
        query = int((span > WIDEST_SPAN).argmax())
        raise ValueError(
            f"scores of query {query} are {span[query]:g} apart, expected at most {WIDEST_SPAN:g}: scale the scores "
            "down"
        )


def weighted_sum(now: Round, weights: Sequence[float], parts: Sequence[LambdaFunction]) -> LambdaMu:
    """Σ w λ and Σ w μ of the parts in a round, in float64; all parts use the order that the first one sorts."""
    if now.order is None:
        now = now._replace(order=np.full(now.scores.size, -1, dtype=np.int32))
    lam, mu = np.zeros((2, now.scores.size))
    for weight, part in zip(weights, parts, strict=True):
        if weight > 0:  # 0 times what overflows is NaN
            of_part = part(now)
            lam += np.multiply(of_part[0], weight, dtype=np.float64)
            mu += np.multiply(of_part[1], weight, dtype=np.float64)
    return lam, mu
