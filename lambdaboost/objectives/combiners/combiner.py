"""`Combiner`: the base class of weights that depend on λ, costs, the round or the data."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._value import Value
from lambdaboost.objectives.combiners.parts import Parts

Weights = NDArray[np.floating]


class Combiner(Value):
    r"""The weights of K objectives, as a function of the round, the scores and the data.

    Every λ is first scaled to the norm of the first one with any force, so that weights compare directions. μ have the
    same factors, or larger ones that make their sum that of the first one's, so that no Newton step is longer than
    those of the first objective:

    .. math:: \lambda = \sum_k w_k f_k \lambda_k, \quad
        \mu = \sum_k w_k \max\Big(f_k, \frac{\sum_i |\mu_{1i}|}{\sum_i |\mu_{ki}|}\Big) \mu_k, \quad
        f_k = \frac{\lVert\lambda_1\rVert}{\lVert\lambda_k\rVert}.

    Norms and sums are over all documents of the round, times their weights. An objective whose λ are all zero is left
    out of the round.

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


def entries_of(name: str, values: object, such_as: str = "(0.8, 0.2)") -> tuple[Any, ...]:
    """A tuple, list or array as a tuple of Python's own values, at least two, one for each objective."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = values.tolist()
    if not isinstance(values, tuple | list):
        raise TypeError(
            f"{name} is {values!r}, expected a tuple with one entry for each objective, such as {such_as}"
        )
    if len(values) < 2:
        raise ValueError(
            f"{name} is {values!r}: give an entry for each of at least two objectives, such as {such_as}"
        )
    return tuple(value.item() if isinstance(value, np.generic) else value for value in values)


def shares_of(name: str, values: object) -> tuple[float, ...]:
    """`entries_of`, which have to be numbers ≥ 0 that sum to 1."""
    shares = entries_of(name, values)
    if not all(isinstance(share, int | float) and not isinstance(share, bool) for share in shares):
        raise TypeError(f"{name} is {values!r}, expected a tuple of numbers such as (0.8, 0.2)")
    if not all(0 <= share <= 1 for share in shares) or abs(sum(shares) - 1) > 1e-6:
        raise ValueError(
            f"{name} is {values!r}, expected one number ≥ 0 for each objective, which sum to 1, such as (0.8, 0.2)"
        )
    return shares


def check_length(name: str, values: tuple[object, ...], count: int) -> None:
    """Raise unless there is one value for each of `count` objectives."""
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} entries for {count} objectives: give one for each")


def refuse_class(name: str, value: object) -> None:
    """Raise TypeError where `value` is a combiner's class."""
    if isinstance(value, type) and issubclass(value, Combiner):
        raise TypeError(
            f"{name} is the class {value.__name__}: give a value of it, such as Scaled((0.8, 0.2))"
        )


def check_combiner(name: str, value: object) -> None:
    """Raise TypeError where `value` is not a combiner."""
    if not isinstance(value, Combiner):
        raise TypeError(f"{name} is {value!r}, expected a combiner such as MinNorm() or Scaled((0.8, 0.2))")
