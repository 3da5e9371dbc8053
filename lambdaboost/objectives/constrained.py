"""Constrained: keep one measure within a tolerance of its own model, and raise others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.engines import queries_of
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.objective import Floats, Objective, check_objective
from lambdaboost.objectives.base.registry import OBJECTIVES
from lambdaboost.objectives.base.wrapper import Wrapper
from lambdaboost.objectives.combiners.parts import parts_of
from lambdaboost.objectives.combiners.scaled import Scaled
from lambdaboost.objectives.kernels.pair_rule import Derivatives
from lambdaboost.objectives.scorecard import Scorecard

# The share of the tolerance at which all weight is on the primary objective. With the whole tolerance, the measure fell
# by up to 0.0056 on test queries where keep was 0.005; with half, by up to 0.0032 (docs/mathematics/several.md).
HELD_AT = 0.5


@OBJECTIVES.add
@dataclass(frozen=True, repr=False)
class Constrained(Objective):
    r"""Keep the measure of one objective within a tolerance of its own model's, and raise those of others.

    `reference` holds :math:`Z^*_m`, the measure of the primary objective's own model on the training data after m
    rounds. In round m, at scores with the measure Z, half of the tolerance and the shortfall leave the room r, and

    .. math:: r = \tfrac12\text{keep} - (Z^*_m - Z), \qquad
        w = 1 - \min\Big(1, \max\Big(0, \frac{r}{\max(\text{keep}/2,\; Z^*_{m+1} - Z^*_m)}\Big)\Big),

    .. math:: \lambda = w\,\lambda_1 + (1 - w)\,\frac{\lVert\lambda_1\rVert}{\lVert\lambda_2\rVert}\,\lambda_2,

    and μ in the same way. Without a shortfall all weight is on the objectives to raise, unless the own model gains more
    in this round than there is room; without room all is on the primary one. The other half of the tolerance is for
    what single rounds add, and for other data than the training data.

    This is the penalty method, or an augmented Lagrangian without its multiplier (Momma, Garakani and Sun 2019), whose
    steady shortfall lies inside the tolerance; the ramp is the smoothing. It is a function of the round, the scores
    and the data, so a training that is resumed or repeated gives the same model.

    The training functions and rankers of lambdaboost train the primary objective alone first, with the same parameters,
    and fill in its measure, which doubles the time. Stock engines need `reference`.

    Parameters
    ----------
    primary : Objective
        What is kept: an objective of one measure, such as ``LambdaRank(NDCG(k=10))``.
    raise_ : Objective, or tuple of Objective
        What is raised. Several are scaled to one norm and added in equal parts, as in
        ``Scorecard(raise_, Scaled((0.5, 0.5)))``.
    keep : float in (0, 1)
        How far the measure may fall below that of its own model, in units of the measure: 0.005 of NDCG.
    reference : tuple of floats, optional
        The measure on the training data after each round of the primary objective's own model.

    Examples
    --------
    >>> from lambdaboost import CNDCG, NDCG, Constrained, LambdaRank, Queries
    >>> grades, clicks = LambdaRank(NDCG(k=10)), LambdaRank(CNDCG(k=10))
    >>> both = Constrained(grades, raise_=clicks, keep=0.01, reference=(0.9, 0.95))
    >>> q = Queries([0, 1], sizes=[2], clicks=[0.5, 0.1])
    >>> grad, hess = both.gradient([0.0, 0.0], q, iteration=1)
    >>> bool((grad == grades.gradient([0.0, 0.0], q)[0]).all())  # NDCG is 0.63 and not 0.9: all weight on the grades
    True

    """

    primary: Objective
    raise_: Objective
    keep: float = 0.005
    reference: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_objective("primary", self.primary)
        _ = self.measure
        if isinstance(self.raise_, tuple | list):
            if not self.raise_:
                raise ValueError("raise_ is empty: give at least one objective")
            for at, objective in enumerate(self.raise_):
                check_objective(f"raise_[{at}]", objective)
            equal = Scaled((1 / len(self.raise_),) * len(self.raise_))
            object.__setattr__(self, "raise_", Scorecard(tuple(self.raise_), equal))
        check_objective("raise_", self.raise_)
        check_number("keep", self.keep, 0, 1, open_low=True)
        if self.keep == 1:
            raise ValueError("keep is 1, expected a number below 1: every measure here is at most 1")
        if self.reference is not None:
            if isinstance(self.reference, list):
                object.__setattr__(self, "reference", tuple(self.reference))
            _check_reference(self.reference)

    @property
    def measure(self) -> Measure:
        """The measure that is kept."""
        return self.primary.measure

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
        if q.memo(("undefined", self.measure), lambda: _is_undefined(self.measure, q)):
            raise ValueError(
                f"primary: {self.measure!r} is defined on no query of the training data, since the labels of "
                f"{self.measure.source!r} are missing or put no document before another; give such labels, or another "
                "primary objective"
            )

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document at a round."""
        w = self.weight(scores, q, iteration)
        parts = parts_of((self.primary, self.raise_), scores, q, iteration)
        return parts.combined(np.array([w, 1 - w] if parts.live[1] else [1.0, 0.0]))

    def weight(self, scores: Floats, q: Queries, iteration: int) -> float:
        """The weight w of the primary objective at a round, in [0, 1]."""
        now = float(self.measure(scores, q))
        before = self._own(iteration) if iteration else now  # all models begin alike
        held = HELD_AT * self.keep
        room, gain = held - (before - now), self._own(iteration + 1) - before
        return 1.0 - min(1.0, max(0.0, room / max(held, gain)))

    def shortfall(self, scores: Floats, q: Queries, rounds: int) -> float:
        """How far the measure is below that of its own model after as many rounds, at least 1."""
        return self._own(rounds) - float(self.measure(scores, q))

    def _own(self, rounds: int) -> float:
        """The measure of the own model after some rounds."""
        if self.reference is None:
            raise ValueError(
                f"{self!r} has no reference: train with train or LambdaRanker of lambdaboost.lightgbm or "
                "lambdaboost.xgboost, which train the primary objective alone first, or give reference=, its measure "
                "on the training data after each round"
            )
        if rounds > len(self.reference):
            raise ValueError(
                f"reference holds the measure after each of {len(self.reference)} rounds, and this training has more: "
                "train the primary objective for as many"
            )
        return self.reference[rounds - 1]


def _check_reference(reference: object) -> None:
    if not isinstance(reference, tuple) or not reference:
        raise TypeError(
            f"reference is {reference!r}, expected a tuple of the primary measure on the training data after each "
            "round, such as tuple(history['training']['NDCG(k=10)'])"
        )
    for at, value in enumerate(reference):
        check_number(f"reference[{at}]", value, -1, 1)


def _is_undefined(measure: Measure, q: Queries) -> bool:
    strict = replace(measure, empty=float("nan"))  # type: ignore[type-var]
    return bool(np.isnan(strict.per_query(np.zeros(q.n_documents), q)).all())


def constraint_in(rule: Any) -> Constrained | None:
    """The `Constrained` that a rule is or wraps, such as by gradient steps."""
    if isinstance(rule, Wrapper):
        return constraint_in(rule.objective)
    return rule if isinstance(rule, Constrained) else None
