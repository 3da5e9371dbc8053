"""`Combiner`: the base class of weights that depend on λ, costs, the round or the data."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, check_tuple
from lambdaboost._value import Value
from lambdaboost.objectives.combiners.gradients import Gradients

COMBINERS: dict[str, type[Any]] = {}  # all of them by name, each entered where it is defined


class Combiner(Value, registered=False):
    r"""The weights of K objectives, as a function of the round, the scores and the data.

    Every λ is first scaled to the norm of the first one with any force, so that weights compare directions. μ have the
    same factors, or larger ones that make their sum that of the first one's, so that no Newton step is longer than
    those of the first objective:

    .. math:: \lambda = \sum_k w_k f_k \lambda_k, \quad
        \mu = \sum_k w_k \max\Big(f_k, \frac{\sum_i |\mu_{1i}|}{\sum_i |\mu_{ki}|}\Big) \mu_k, \quad
        f_k = \frac{\lVert\lambda_1\rVert}{\lVert\lambda_k\rVert}.

    Norms and sums are over all documents of the round, each counted as often as its weight says. An objective whose λ
    are all zero is left out of the round.

    A combiner keeps nothing from round to round, so a training that is resumed or repeated gives the same model.
    """

    registry: ClassVar[dict[str, type[Any]] | None] = COMBINERS
    # Whether it reads the costs of the objectives, which then need a measure.
    reads_costs: ClassVar[bool] = False
    # The field with one entry for each objective, if there is one.
    one_each: ClassVar[str | None] = None
    such_as: ClassVar[str] = "(0.8, 0.2)"

    def __post_init__(self) -> None:
        if self.one_each is None:
            return
        entries = check_tuple(self.one_each, getattr(self, self.one_each), self.such_as)
        if len(entries) < 2:
            raise ValueError(
                f"{self.one_each} is {entries!r}: give an entry for each of at least two objectives, such as "
                f"{self.such_as}"
            )
        object.__setattr__(self, self.one_each, entries)
        for at, entry in enumerate(entries):
            self.check_entry(f"{self.one_each}[{at}]", entry)

    def check_entry(self, name: str, entry: Any) -> None:
        """Raise where the entry of an objective is wrong; numbers > 0 are right."""
        check_number(name, entry, above=0)

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads itself."""
        return ()

    def check_parts(self, count: int) -> None:
        """Raise ValueError if it cannot combine this number of objectives."""
        if self.one_each is not None and len(getattr(self, self.one_each)) != count:
            raise ValueError(
                f"{self.one_each} has {len(getattr(self, self.one_each))} entries for {count} objectives: "
                "give one for each"
            )

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The weight of each objective, (K,), or of each document in each, (K, n_documents); all ≥ 0."""
        raise NotImplementedError


def check_sum(name: str, shares: tuple[float, ...]) -> None:
    """Raise where shares do not sum to 1."""
    if abs(sum(shares) - 1) > 1e-6:
        raise ValueError(f"{name} is {shares!r}: give numbers ≥ 0 that sum to 1, such as (0.8, 0.2)")
