"""PositionGAM: an objective at scores that a bias of each position is added to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.objective import Floats, Objective, check_objective
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.kernels.pair_rule import Derivatives

DOCUMENTS = 50_000  # the bias is that of sampled queries of about so many
STEPS = 12
CLOSE = 1e-3  # a step that short is the last


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class PositionGAM(Objective):
    r"""An objective at corrected scores :math:`s_i + b_{k(i)}`, an additive bias for each position k.

    The bias makes the cost of the objective least at the round's scores: :math:`\sum_{k(i)=k} \lambda_i = r\,n_k b_k`
    for each position, r the regularization and :math:`n_k` its documents. Newton steps of half length solve it, all
    positions at once, anew in every round: the objective has no state. LightGBM's ``position`` takes one such step a
    round, as short as the learning rate.

    Models learn what the bias does not explain, and predict without it. An overall effect of a position on clicks is
    thus told from the effect of documents that stand there, as long as documents were shown at several positions.
    Where there are many documents, the bias is that of a fixed sample of queries.

    Parameters
    ----------
    objective : Objective
        Any that does not read positions itself.
    regularization : float
        r, ≥ 0, LightGBM's ``lambdarank_position_bias_regularization``.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, PositionGAM, Queries
    >>> q = Queries([1, 0, 1, 0, 0, 1], sizes=[2, 2, 2], position=[1, 2, 1, 2, 1, 2])
    >>> objective = PositionGAM(LambdaRank())
    >>> objective.bias([0.0] * 6, q).round(2)  # the first is clicked twice as often: log 2 apart
    array([ 0.  , -0.69])

    """

    reads_positions: ClassVar[bool] = True

    objective: Objective
    regularization: float = 0.0

    def __post_init__(self) -> None:
        check_objective("objective", self.objective)
        if self.objective.reads_positions:
            raise TypeError(
                f"objective is {self.objective!r}, which corrects for positions itself: give one that does not"
            )
        check_number("regularization", self.regularization, 0)

    @property
    def curvature_changes_sign(self) -> bool:  # type: ignore[override]
        """Whether μ can be negative."""
        return self.objective.curvature_changes_sign

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Whether the objective does."""
        return self.objective.ranks_ties_by_row

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return self.objective.sources

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return self.objective.allows_negative

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None."""
        return self.objective.row_weights(q)

    def bias(self, scores: ArrayLike, q: Queries, iteration: int = 0) -> Floats:
        """The bias b of each position at these scores, that of the first one 0; float64."""
        b = self._bias(q.scores(scores), q, iteration)[1:]
        return b - b[:1]  # empty if no row was shown

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document at the corrected scores."""
        position = q.required_position()
        b = self._bias(scores, q, iteration)
        lam, mu = self.objective.lambdas(scores + b[position], q, iteration)
        if (missing := (position == 0) & (mu != 0)).any():
            raise ValueError(
                f"row {int(missing.argmax())} has a label but no position: give the position at which it was shown, "
                "or NaN as its label"
            )
        return lam, mu

    def _bias(self, scores: Floats, q: Queries, iteration: int) -> Floats:
        """By position, 0 first for rows that were not shown."""
        size = int(q.required_position().max()) + 1
        of, rows = _sampled(q)
        if rows is not None:
            scores = scores[rows]
        position, weights = of.required_position(), self.objective.row_weights(of)
        count = np.bincount(position, minlength=size)
        b = np.zeros(size)
        for _ in range(STEPS):
            lam, mu = (
                np.bincount(position, part if weights is None else part * weights, size)
                for part in self.objective.lambdas(scores + b[position], of, iteration)
            )
            slope, curvature = lam - self.regularization * count * b, abs(mu) + self.regularization * count
            # Half a step, since a pair feels that of both its positions.
            step = 0.5 * np.divide(slope, curvature, out=np.zeros(size), where=curvature > 0)
            step[0] = 0
            b += np.clip(step, -1, 1)
            if abs(step).max() < CLOSE:
                break
        return b


def _sampled(q: Queries) -> tuple[Queries, NDArray[np.int64] | None]:
    """Queries with about `DOCUMENTS` documents, the same at every call, and their rows; None for all."""

    def build() -> tuple[Queries, NDArray[np.int64] | None]:
        if q.n_documents <= DOCUMENTS:
            return q, None
        order = np.random.default_rng(0).permutation(q.n_queries)
        chosen = np.sort(order[: int(np.searchsorted(np.cumsum(q.sizes[order]), DOCUMENTS)) + 1])
        return q.take(chosen), q.rows_of(chosen)

    found: tuple[Queries, NDArray[np.int64] | None] = q.memo("sampled documents", build)
    return found
