"""`Shrunk`: the weights of a combiner, drawn towards fixed ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lambdaboost.objectives.base.checks import check_number
from lambdaboost.objectives.base.registry import COMBINERS
from lambdaboost.objectives.combiners.combiner import (
    Combiner,
    Weights,
    check_combiner,
    check_length,
    shares_of,
)
from lambdaboost.objectives.combiners.parts import Parts


@COMBINERS.add
@dataclass(frozen=True, repr=False)
class Shrunk(Combiner):
    r"""Weights between those of a combiner and fixed preferences: :math:`(1 - \gamma)\,\alpha_k + \gamma\,p_k`.

    If the weights alternate between rounds, trees undo each other. A running average of the weights
    would damp that, but it depends on all rounds before; this does not, and every objective keeps a share.

    Parameters
    ----------
    combiner : Combiner
        Such as ``ExactPareto((0.7, 0.3))``.
    preferences : tuple of floats ≥ 0 that sum to 1, one for each objective
    amount : float
        γ in [0, 1].

    Raises
    ------
    TypeError, ValueError
        For preferences that are not two or more numbers ≥ 0 with sum 1, and for an amount outside [0, 1].

    Examples
    --------
    >>> from lambdaboost import Chebyshev, LambdaRank, RankNet, Scorecard, Shrunk
    >>> Scorecard((LambdaRank(), RankNet()), Shrunk(Chebyshev((1.0, 2.0)), (0.5, 0.5))).sources
    ('relevance',)

    """

    combiner: Combiner
    preferences: tuple[float, ...]
    amount: float = 0.5

    def __post_init__(self) -> None:
        check_combiner("combiner", self.combiner)
        object.__setattr__(self, "preferences", shares_of("preferences", self.preferences))
        check_number("amount", self.amount, 0, 1)

    @property
    def reads_costs(self) -> bool:  # type: ignore[override]
        """Whether the combiner does."""
        return self.combiner.reads_costs

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that the combiner reads itself."""
        return self.combiner.sources

    def check_parts(self, count: int) -> None:
        """Raise ValueError unless there is one preference for each, and the combiner takes them."""
        check_length("preferences", self.preferences, count)
        self.combiner.check_parts(count)

    def weigh(self, parts: Parts) -> Weights:
        """The mean of both."""
        weights, towards = self.combiner.weigh(parts), np.array(self.preferences)
        if weights.ndim == 2:
            towards = towards[:, None]
        return (1 - self.amount) * weights + self.amount * towards
