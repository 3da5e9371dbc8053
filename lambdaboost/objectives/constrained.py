"""Constrained: improve other objectives while one measure stays within a tolerance of a reference model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lambdaboost._checks import check_number
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.composite import Composite
from lambdaboost.objectives.objective import Floats, LambdaMu, Objective, check_part
from lambdaboost.objectives.scaled import Gradients

# The share of the tolerance at which all weight is on the primary objective. The rest absorbs what single rounds add,
# and the difference between training and new data.
RESERVED_SHARE = 0.5


class Constrained(Composite):
    r"""Keep the measure of one objective within a tolerance, and raise those of others.

    The tolerance counts from a reference model, that of the primary objective alone, which you train first (page
    "Two labels"). `reference` holds its measure :math:`Z^*_m` on the training data after m rounds. In round m, at
    scores with the measure Z, half of the tolerance and the shortfall leave the room r, and

    .. math:: r = \tfrac12\text{keep} - (Z^*_m - Z), \qquad
        w = 1 - \min\Big(1, \max\Big(0, \frac{r}{\max(\text{keep}/2,\; Z^*_{m+1} - Z^*_m)}\Big)\Big),

    .. math:: \lambda = w\,\lambda_1 + (1 - w)\,f\,\lambda_2, \quad
        \mu = w\,\mu_1 + (1 - w)\,\max\Big(f, \frac{\sum_i \mu_{1i}}{\sum_i \mu_{2i}}\Big)\,\mu_2, \quad
        f = \frac{\lVert\lambda_1\rVert}{\lVert\lambda_2\rVert},

    so that no Newton step of λ₂ is longer than those of λ₁ (see `Scaled`). While the measure is at its reference, all
    weight goes to `raise_`; the less room is left, the more goes to the primary objective. A round in which the
    reference gains more than the room counts in advance. The other half of the tolerance absorbs single rounds and the
    difference between training and new data.

    This is a penalty method: an augmented Lagrangian without the multiplier (Momma, Garakani and Sun 2019), without
    state. Evaluate `kept` on the training data (``feval``, ``custom_metric``) to see how far the model is behind.

    Parameters
    ----------
    primary : Objective
        What is kept: an objective of one measure, such as ``LambdaRank(NDCG(k=10))``. The measure is a mean over the
        training queries on which it is defined (`kept`).
    raise_ : Objective
        What is raised; several as ``Scorecard((first, second), Scaled((0.5, 0.5)))``.
    keep : float in (0, 1)
        How far the measure may fall below that of the reference model, in units of the measure, such as 0.005 of NDCG.
    reference : tuple of floats
        The measure `kept` on the training data after each round of the reference model, as ``feval`` and
        ``custom_metric`` record it.

    Raises
    ------
    TypeError, ValueError
        For a primary objective without a single measure, a part that is constrained itself, or no reference; in a
        training, for a measure that is defined on no query, and for more rounds than references.

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
    reference: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_part("primary", self.primary)
        _ = self.measure
        check_part("raise_", self.raise_)
        check_number("keep", self.keep, above=0, below=1)
        if not isinstance(self.reference, tuple) or not self.reference:
            raise ValueError(
                f"reference is {self.reference!r}: train {self.primary!r} alone first, evaluate {self.kept!r} on the "
                "training data, and give its values after each round, those of history['training']"
            )
        for at, z in enumerate(self.reference):
            check_number(f"reference[{at}]", z, -1, 1)

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The primary objective and what is raised."""
        return self.primary, self.raise_

    @property
    def measure(self) -> Measure:
        """The measure of the primary objective."""
        return self.primary.measure

    @property
    def kept(self) -> Measure:
        """`measure` as a mean over the queries on which it is defined: others would dilute a loss."""
        return self.measure.strict

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return tuple(dict.fromkeys((*super().sources, *self.measure.sources)))

    def check_training(self, q: Queries) -> None:
        """Raise ValueError where the curvature changes sign, or the measure is defined on no query."""
        super().check_training(q)
        if np.isnan(self.kept(np.zeros(q.n_documents), q)):
            raise ValueError(
                f"primary: {self.measure!r} is defined on no query of the training data, since the labels of "
                f"{self.measure.source!r} are missing or put no document before another; give such labels, or another "
                "primary objective"
            )

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document at a round."""
        w = self.weight(scores, q, iteration)
        if w == 1:
            return self.primary.lambdas(scores, q, iteration)
        found = Gradients(self.parts, scores, q, iteration)
        return found.scaled_sum(np.array([w, 1 - w] if found.has_force[1] else [1.0, 0.0]))

    def weight(self, scores: Floats, q: Queries, iteration: int) -> float:
        """The weight w of the primary objective at a round, in [0, 1]."""
        now = float(self.kept(scores, q))
        before = self._at(iteration) if iteration else now  # all models begin alike
        held = RESERVED_SHARE * self.keep
        room, gain = held - (before - now), self._at(iteration + 1) - before
        return 1.0 - min(1.0, max(0.0, room / max(held, gain)))

    def _at(self, rounds: int) -> float:
        """The measure of the reference model after some rounds."""
        if rounds > len(self.reference):
            raise ValueError(
                f"reference holds the measure after each of {len(self.reference)} rounds, and this training has more: "
                "train the reference model for as many"
            )
        return self.reference[rounds - 1]
