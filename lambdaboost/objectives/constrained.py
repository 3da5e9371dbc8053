"""Constrained: keep one measure within a tolerance of the model of one objective, and raise others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.engines import queries_of
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.objective import Floats, Objective, check_part, common_row_weights
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.base.strict import strict
from lambdaboost.objectives.base.wrapper import Wrapper
from lambdaboost.objectives.combiners.parts import parts_of
from lambdaboost.objectives.combiners.scaled import Scaled
from lambdaboost.objectives.kernels.pair_rule import Derivatives
from lambdaboost.objectives.scorecard import Scorecard

# The share of the tolerance at which all weight is on the primary objective. The rest absorbs what single rounds add,
# and the difference between training and new data.
HELD_AT = 0.5


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class Constrained(Objective):
    r"""Keep the measure of one objective within a tolerance, and raise those of others.

    The tolerance counts from the reference model, that of the primary objective alone. `reference` holds its measure
    :math:`Z^*_m` on the training data after m rounds. In round m, at scores with the measure Z, half of the tolerance
    and the shortfall leave the room r, and

    .. math:: r = \tfrac12\text{keep} - (Z^*_m - Z), \qquad
        w = 1 - \min\Big(1, \max\Big(0, \frac{r}{\max(\text{keep}/2,\; Z^*_{m+1} - Z^*_m)}\Big)\Big),

    .. math:: \lambda = w\,\lambda_1 + (1 - w)\,f\,\lambda_2, \quad
        \mu = w\,\mu_1 + (1 - w)\,\max\Big(f, \frac{\sum_i \mu_{1i}}{\sum_i \mu_{2i}}\Big)\,\mu_2, \quad
        f = \frac{\lVert\lambda_1\rVert}{\lVert\lambda_2\rVert},

    so that no Newton step of λ₂ is longer than those of λ₁ (see `Combiner`). While the measure is at its reference, all
    weight goes to `raise_`; the less room is left, the more goes to the primary objective. A round in which the
    reference gains more than the room counts in advance. The other half of the tolerance absorbs single rounds and the
    difference between training and new data.

    This is a penalty method: an augmented Lagrangian without the multiplier (Momma, Garakani and Sun 2019). Its
    steady-state shortfall lies within the tolerance, and the ramp smooths the weight. It is a function of the round,
    the scores and the data, so a training that is resumed or repeated gives the same model.

    The training functions and rankers of lambdaboost train the reference model first, with the same parameters, and
    fill in its measure, which doubles the time. Stock engines need `reference`. After the training they check the
    returned model, after early stopping at the best round, against the reference after as many rounds.

    Parameters
    ----------
    primary : Objective
        What is kept: an objective of one measure, such as ``LambdaRank(NDCG(k=10))``. The measure is a mean over the
        training queries on which it is defined (`kept`).
    raise_ : Objective, or tuple of Objective
        What is raised. Several are scaled to one norm and added in equal parts, as in
        ``Scorecard(raise_, Scaled((0.5, 0.5)))``.
    keep : float in (0, 1)
        How far the measure may fall below that of the reference model, in units of the measure: 0.005 of NDCG.
    reference : tuple of floats, optional
        The measure `kept` on the training data after each round of the reference model.

    Raises
    ------
    TypeError, ValueError
        For a primary objective without a single measure; for a part that is constrained itself; for a tolerance outside
        (0, 1); in a training, for a measure that is defined on no query, and for fewer references than rounds.

    Examples
    --------
    >>> from lambdaboost import CNDCG, NDCG, Constrained, LambdaRank, Queries
    >>> grades, clicks = LambdaRank(NDCG(k=10)), LambdaRank(CNDCG(k=10))
    >>> both = Constrained(grades, raise_=clicks, keep=0.01, reference=(0.9, 0.95))
    >>> q = Queries([0, 1], sizes=[2], clicks=[0.5, 0.1])
    >>> grad, hess = both.gradient([0.0, 0.0], q, iteration=1)
    >>> bool((grad == grades.gradient([0.0, 0.0], q)[0]).all())  # NDCG is 0.63, the reference 0.9
    True

    """

    can_be_part: ClassVar[bool] = False

    primary: Objective
    raise_: Objective
    keep: float = 0.005
    reference: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_part("primary", self.primary)
        _ = self.measure
        if isinstance(self.raise_, tuple | list):
            object.__setattr__(self, "raise_", _in_equal_parts(self.raise_))
        check_part("raise_", self.raise_)
        check_number("keep", self.keep, 0, 1, open_low=True)
        if self.keep == 1:
            raise ValueError("keep is 1, expected a number below 1: every measure here is at most 1")
        if self.reference is not None:
            object.__setattr__(self, "reference", _reference(self.reference))

    @property
    def measure(self) -> Measure:
        """The measure of the primary objective."""
        return self.primary.measure

    @property
    def kept(self) -> Measure:
        """`measure` as a mean over the queries on which it is defined: others would dilute a loss."""
        return strict(self.measure)

    @property
    def curvature_changes_sign(self) -> bool:  # type: ignore[override]
        """Whether μ can be negative."""
        return self.primary.curvature_changes_sign or self.raise_.curvature_changes_sign

    @property
    def reads_positions(self) -> bool:  # type: ignore[override]
        """Whether either part does."""
        return self.primary.reads_positions or self.raise_.reads_positions

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return tuple(dict.fromkeys((*self.primary.sources, *self.measure.sources, *self.raise_.sources)))

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return self.primary.allows_negative and self.raise_.allows_negative

    def gradient_on(
        self, scores: ArrayLike, data: Any, iteration: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """`gradient` on the queries of a lightgbm.Dataset or an xgboost.DMatrix, at a given round."""
        self.check(queries_of(data, self.sources))
        return super().gradient_on(scores, data, iteration)

    def check(self, q: Queries) -> None:
        """Raise ValueError if the measure to keep is defined on no query of the training data."""
        if q.memo(("undefined", self.kept), lambda: _is_undefined(self.kept, q)):
            raise ValueError(
                f"primary: {self.measure!r} is defined on no query of the training data, since the labels of "
                f"{self.measure.source!r} are missing or put no document before another; give such labels, or another "
                "primary objective"
            )

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None; a ValueError if the objectives differ."""
        return common_row_weights((self.primary, self.raise_), q)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document at a round."""
        w = self.weight(scores, q, iteration)
        if w == 1:
            return self.primary.lambdas(scores, q, iteration)
        parts = parts_of((self.primary, self.raise_), scores, q, iteration)
        return parts.combined(np.array([w, 1 - w] if parts.live[1] else [1.0, 0.0]))

    def weight(self, scores: Floats, q: Queries, iteration: int) -> float:
        """The weight w of the primary objective at a round, in [0, 1]."""
        now = float(self.kept(scores, q))
        before = self._at(iteration) if iteration else now  # all models begin alike
        held = HELD_AT * self.keep
        room, gain = held - (before - now), self._at(iteration + 1) - before
        return 1.0 - min(1.0, max(0.0, room / max(held, gain)))

    def shortfall(self, scores: Floats, q: Queries, rounds: int) -> float:
        """How far the measure is below that of the reference model after as many rounds, at least 1."""
        return self._at(rounds) - float(self.kept(scores, q))

    def _at(self, rounds: int) -> float:
        """The measure of the reference model after some rounds."""
        if self.reference is None:
            raise ValueError(
                f"{self!r} has no reference: train with train or LambdaRanker of lambdaboost.lightgbm or "
                "lambdaboost.xgboost, which train the primary objective alone first, or give reference=, its measure "
                f"{self.kept!r} on the training data after each round"
            )
        if rounds > len(self.reference):
            raise ValueError(
                f"reference holds the measure after each of {len(self.reference)} rounds, and this training has more: "
                "train the primary objective for as many"
            )
        return self.reference[rounds - 1]


def _in_equal_parts(objectives: Sequence[Objective]) -> Objective:
    if not objectives:
        raise ValueError("raise_ is empty: give at least one objective")
    for at, objective in enumerate(objectives):
        check_part(f"raise_[{at}]", objective)
    if len(objectives) == 1:
        return objectives[0]
    return Scorecard(tuple(objectives), Scaled((1 / len(objectives),) * len(objectives)))


def _reference(values: object) -> tuple[float, ...]:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = values.tolist()
    if not isinstance(values, tuple | list) or not values:
        raise TypeError(
            f"reference is {values!r}, expected a tuple of the primary measure on the training data after each "
            "round, such as tuple(history['training']['NDCG(k=10,empty=nan)'])"
        )
    for at, value in enumerate(values):
        check_number(f"reference[{at}]", value, -1, 1)
    return tuple(map(float, values))


def _is_undefined(kept: Measure, q: Queries) -> bool:
    return bool(np.isnan(kept.per_query(np.zeros(q.n_documents), q)).all())


def constraint_in(rule: Any) -> Constrained | None:
    """The `Constrained` that a rule is or wraps, such as by gradient steps."""
    if isinstance(rule, Wrapper):
        return constraint_in(rule.objective)
    return rule if isinstance(rule, Constrained) else None
