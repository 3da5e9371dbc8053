"""`AffineBias`: examination and false clicks of each position."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lambdaboost._value import Value
from lambdaboost.clicks.propensities import Propensities, optional_numbers
from lambdaboost.datasets.positions import Positions


class AffineBias(Value):
    """P(click | document at k) = α_k r + β_k, with r the probability that the document is clicked at position 1.

    Users who trust the ranking also click what is irrelevant, more often at the top (Agarwal et al. 2019, "Addressing
    Trust Bias for Unbiased Learning-to-Rank"). With ε⁺_k and ε⁻_k the probabilities that a relevant and an irrelevant
    document is clicked if seen, and θ_k that it is seen, α_k ∝ θ_k (ε⁺_k − ε⁻_k), and β_k is θ_k ε⁻_k less α_k times
    the false clicks that r has itself: below 0 where users trust position k less than position 1. The expectation of
    (clicked − β_k) / α_k is r (the affine correction of Vardasbi, Oosterhuis & de Rijke 2020).

    Parameters
    ----------
    alpha : sequence of float
        α_k > 0 of each position, 1 at the first; None where unknown.
    beta : sequence of float
        β_k of each position, 0 at the first; None where α is.
    names : sequence of str, optional
        The name of each position if positions are categories.

    Examples
    --------
    >>> from lambdaboost.clicks import ClickLog
    >>> log = ClickLog([0, 0, 0], ["x", "y", "y"], [1, 2, 2], [0, 1, 0])
    >>> log.rates(propensities=AffineBias([1, 0.5], [0, 0.2]))  # (1 − 2 · 0.2) / (2 · 0.5) of y
    array([0. , 0.6])

    """

    alpha: tuple[float | None, ...]
    beta: tuple[float | None, ...]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for field in ("alpha", "beta"):
            values = optional_numbers(field, getattr(self, field))
            object.__setattr__(self, field, values)
            if [value is not None and math.isfinite(value) for value in values] != self._known:
                raise ValueError(f"{field} must be finite numbers, one for each position as in alpha")
        if (least := min((value for value in self.alpha if value is not None), default=0)) <= 0:
            raise ValueError(f"alpha has {least:g}: give numbers above 0")
        object.__setattr__(self, "names", self._curve.names)

    @property
    def _known(self) -> list[bool]:
        return [value is not None for value in self.alpha]

    @property
    def _curve(self) -> Propensities:
        """A curve of the same positions."""
        return Propensities(tuple(1.0 if known else None for known in self._known), names=self.names)

    def at_positions(self, positions: Positions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """α and β of each row, NaN where it was not shown; categories are matched by name."""
        curve = self._curve
        return curve.at_positions(positions, self.alpha), curve.at_positions(positions, self.beta)
