"""`AffineBias`: examination and false clicks of each position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._value import Value
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets.positions import Positions, positions_of


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
        α_k > 0 of each position, 1 at the first.
    beta : sequence of float
        β_k of each position, 0 at the first.
    alpha_low, alpha_high, beta_low, beta_high : sequence of float, optional
        An interval for each α_k and β_k.
    names : sequence of str, optional
        The name of each position if positions are categories.

    Raises
    ------
    ValueError
        If there is not a finite number for each position, or α is not above 0.

    Examples
    --------
    >>> bias = AffineBias([1, 0.5], [0, -0.1])
    >>> bias.corrected([1, 1, 0], [1, 2, 2]).round(3)
    array([1. , 2.2, 0.2])

    """

    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    alpha_low: tuple[float, ...] | None = None
    alpha_high: tuple[float, ...] | None = None
    beta_low: tuple[float, ...] | None = None
    beta_high: tuple[float, ...] | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        n = np.size(self.alpha)
        for field in ("alpha", "beta", "alpha_low", "alpha_high", "beta_low", "beta_high"):
            if (given := getattr(self, field)) is None and field not in ("alpha", "beta"):
                continue
            try:
                values = np.asarray(given, dtype=np.float64)
            except (TypeError, ValueError):
                values = np.empty(0)
            if values.shape != (n,) or not np.isfinite(values).all():
                raise ValueError(f"{field} must be finite numbers, one for each position as in alpha")
            object.__setattr__(self, field, tuple(values.tolist()))
        if min(self.alpha) <= 0:
            raise ValueError(f"alpha has {min(self.alpha):g}: give numbers above 0")
        object.__setattr__(self, "names", self._curve.names)

    @property
    def _curve(self) -> Propensities:
        """A curve of the same positions."""
        return Propensities(np.ones(len(self.alpha)), names=self.names)  # type: ignore[arg-type]

    def corrected(self, clicked: ArrayLike, position: Any) -> NDArray[np.float64]:
        """(clicked − β_k) / α_k of each row, float64 (n,), whose mean over a document's rows estimates r.

        It may be below 0 or above 1. `position` is a rank from 1 or a name; NaN where a row was not shown.
        """
        positions = positions_of("position", position)
        c = np.asarray(clicked, dtype=np.float64)
        if c.shape != positions.codes.shape:
            raise ValueError(
                f"clicked has shape {c.shape}, position has {positions.codes.size} rows: give one of each"
            )
        alpha, beta = self.at_positions(positions)
        return (c - beta) / alpha

    def at_positions(self, positions: Positions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """α and β of each row, NaN where it was not shown; categories are matched by name."""
        curve = self._curve
        return curve.at_positions(positions, self.alpha), curve.at_positions(positions, self.beta)
