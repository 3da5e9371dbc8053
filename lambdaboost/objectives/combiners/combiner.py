"""`Combiner`: the base class of weights that depend on λ, costs, the round or the data."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._value import Value
from lambdaboost.objectives.combiners.parts import Parts

Weights = NDArray[np.floating]


class Combiner(Value):
    r"""The weights of K objectives, as a function of the round, the scores and the data.

    Every λ is first scaled to the norm of the first one, so that weights compare directions and steps keep their size:

    .. math:: \lambda = \sum_k w_k \frac{\lVert\lambda_1\rVert}{\lVert\lambda_k\rVert} \lambda_k,

    and μ in the same way, with the norm over all documents of the round, times their weights. An objective without
    any force in a round has no share in it.

    A combiner keeps nothing from round to round, so a training that is resumed or repeated gives the same model.
    """

    # Whether it reads the costs of the objectives, which then need a measure.
    reads_costs: ClassVar[bool] = False

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads itself."""
        return ()

    def check_parts(self, count: int) -> None:
        """Raise ValueError if it cannot combine this number of objectives."""

    def weigh(self, parts: Parts) -> Weights:
        """The weight of each objective, (K,), or of each document in each, (K, n_documents); all ≥ 0."""
        raise NotImplementedError


def check_shares(name: str, values: object) -> None:
    """Raise unless `values` are at least two numbers ≥ 0 that sum to 1."""
    if not isinstance(values, tuple) or not all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    ):
        raise TypeError(f"{name} is {values!r}, expected a tuple of numbers such as (0.8, 0.2)")
    if len(values) < 2 or not all(0 <= value <= 1 for value in values) or abs(sum(values) - 1) > 1e-6:
        raise ValueError(
            f"{name} is {values!r}, expected one number ≥ 0 for each objective, which sum to 1, such as (0.8, 0.2)"
        )


def check_length(name: str, values: tuple[object, ...], count: int) -> None:
    """Raise unless there is one value for each of `count` objectives."""
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} numbers for {count} objectives: give one for each")


def check_combiner(name: str, value: object) -> None:
    """Raise TypeError where `value` is not a combiner."""
    if not isinstance(value, Combiner):
        raise TypeError(f"{name} is {value!r}, expected a combiner such as MinNorm() or Scaled((0.8, 0.2))")
