"""Bias by position: `Propensities`, the probability that a user looks there, and `AffineBias` with false clicks."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Set
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, check_whole
from lambdaboost._files import check_place, reading, replacing
from lambdaboost._value import Value
from lambdaboost._words import counted, listed, quote
from lambdaboost.datasets import Queries
from lambdaboost.datasets.arrays import Positions

FIELDS = ("values", "low", "high", "names")
ALL_SHOWN = 5  # positions of a curve whose `repr` shows all


class Propensities(Value):
    """The probability that a user looks at each position, relative to the best position.

    In the position-based model P(click) = P(look | position) · P(attracts | query, document) (Richardson, Dominowska
    & Ragno 2007; Wang et al. 2018, section 4). Clicks determine the first factor only up to a constant, so only the
    ratios of the values matter.

    Parameters
    ----------
    values : sequence of float
        One value in (0, 1] for each position, position 1 first; None or masked where unknown, see `extended`.
    low, high : sequence of float, optional
        An interval for each value, both or neither; `high` may exceed 1, since the curve is relative.
    names : sequence of str, optional
        The name of each position if positions are categories, such as places on the page: code 1 first, as in
        ``Queries.position_names``.

    Examples
    --------
    >>> p = Propensities([1, 0.5, 0.25])
    >>> p
    Propensities(values=(1.0, 0.5, 0.25))
    >>> Propensities.power(2, 3).values
    (1.0, 0.25, 0.1111111111111111)

    """

    values: tuple[float | None, ...]
    low: tuple[float | None, ...] | None = None
    high: tuple[float | None, ...] | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for field in ("values", "low", "high"):
            if (given := getattr(self, field)) is not None:
                object.__setattr__(self, field, floats_or_none(field, given))
        n = len(self.values)
        if set(self.values) <= {None}:
            raise ValueError("values has no propensity: give one for each position, None where unknown")
        for at, value in enumerate(self.values):
            if value is not None and not 0 < value <= 1:
                raise ValueError(
                    f"values[{at}] is {value:g}: the propensity of position {at + 1} must be above 0 and at most 1"
                )
        if (self.low is None) != (self.high is None):
            raise ValueError("give both ends of the intervals, low and high, or neither")
        low, high = self.low or self.values, self.high or self.values
        if (len(low), len(high)) != (n, n):
            raise ValueError(
                f"low and high have {len(low)} and {len(high)} ends, values has {n}: give one for each"
            )
        for at, interval in enumerate(zip(low, self.values, high, strict=True)):
            least, value, most = interval
            if {None} < set(interval):
                raise ValueError(f"low[{at}], high[{at}] and values[{at}]: give None in all three or in none")
            if least is not None and most is not None and not 0 <= least <= most < math.inf:
                raise ValueError(
                    f"low[{at}] is {least:g} and high[{at}] {most:g}: give finite ends with 0 ≤ low ≤ high"
                )
        if self.names is not None:
            object.__setattr__(self, "names", _checked_names(self.names, n))

    @classmethod
    def power(cls, eta: float, k: int) -> Self:
        """The curve 1/rank^η of `k` positions; η = 0 is no bias (Joachims et al. 2017)."""
        check_number("eta", eta, 0, remedy="give a finite number ≥ 0; 0 is no bias")
        return cls(tuple((1.0 / np.arange(1, check_whole("k", k) + 1) ** float(eta)).tolist()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a curve that `save` wrote."""
        path = Path(path)
        with reading(path) as file:
            text = file.read()
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a saved curve of propensities: {error}") from None

    def save(self, path: str | Path) -> Path:
        """Write the curve as JSON, atomically; `load` reads it back with the same bits."""
        path = Path(path)
        check_place("path", path)
        fields = {name: getattr(self, name) for name in FIELDS if getattr(self, name) is not None}
        with replacing(path) as file:
            file.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")
        return path

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        n = len(self)
        if n <= ALL_SHOWN and self.low is None:
            return super().__repr__()
        first = self.values[: n if n <= ALL_SHOWN else 2]
        words = ["None" if value is None else f"{value:.2g}" for value in (*first, self.values[-1])]
        words[-1:] = ["…", words[-1]] if n > ALL_SHOWN else []
        return f"{type(self).__name__}({counted(n, 'position')}: {', '.join(words)})"

    def extended(self, n: int | None = None) -> Self:
        """The curve of `n` positions, by default as many as here, with unknown ones from the closest c/rank^η.

        Closest by least squares of log value on log rank, where positions count by the width of their intervals; at
        least three must be known. Known values stay, relative to the best. The longer curve has no intervals.

        >>> np.round(Propensities([1, None, 1 / 3, 1 / 4]).extended(5).values, 3).tolist()
        [1.0, 0.5, 0.333, 0.25, 0.2]
        """
        n = len(self) if n is None else check_whole("n", n)
        if n < len(self):
            raise ValueError(f"n is {n}, but the curve has {len(self)} positions: give as many or more")
        if self.names is not None:
            raise ValueError("the curve is of named positions, which have no order: give ranks")
        value, weight = np.array(self.values, dtype=np.float64), np.ones(len(self))
        if self.low is not None and self.high is not None:
            low, high = (np.array(ends, dtype=np.float64) for ends in (self.low, self.high))
            with np.errstate(divide="ignore", invalid="ignore"):
                width = np.log(high / low) / 4
            # The best position, whose interval is a point, counts as the next best known one.
            weight = 1 / np.maximum(width, np.min(width, where=width > 0, initial=1.0))
        known = np.flatnonzero(weight * ~np.isnan(value) > 0)
        if known.size < 3:
            raise ValueError(
                f"the curve has {counted(known.size, 'known position')}, too few for a power curve, which needs 3: "
                "give more sessions, or a curve such as Propensities.power(1.0, 10)"
            )
        line = np.polyfit(np.log(known + 1), np.log(value[known]), 1, w=weight[known])
        fitted = np.exp(np.polyval(line, np.log(np.arange(1, n + 1))))
        np.copyto(fitted[: len(self)], value, where=~np.isnan(value))
        return type(self)(tuple((fitted / fitted.max()).tolist()))

    def of(self, q: Queries) -> NDArray[np.float64]:
        """The value at the position of each document, float64 (n_documents,); NaN where it was not shown."""
        return self.at_positions(Positions(q.required_position(), q.position_names))

    def at_positions(self, positions: Positions, values: Any = None) -> NDArray[np.float64]:
        """The value, or one of other `values`, of each row by its name if it has one; NaN where it was not shown."""
        value = np.array(self.values if values is None else values, dtype=np.float64)
        found = np.append(np.nan, value)[self._places(positions)]
        if (unknown := np.isnan(found) & (positions.codes > 0)).any():
            code = int(positions.codes[np.argmax(unknown)])
            which = code if positions.names is None else quote(positions.names[code - 1])
            raise ValueError(
                f"position {which} has no propensity on the curve: fill it by extended(), a power curve, or leave out "
                "these documents"
            )
        return found

    def _places(self, positions: Positions) -> NDArray[np.int64]:
        """The place of each row's position on the curve from 1, 0 where it was not shown."""
        names, code = positions.names, positions.codes
        if (names is None) != (self.names is None):
            raise ValueError(
                "the curve is of named positions, but those of the data are ranks: give the names as position"
                if names is None
                else f"positions are categories ({listed(names, 3)}), but the curve has no names: give names="
            )
        if names is None or self.names is None:
            if (last := int(code.max(initial=0))) > len(self):
                raise ValueError(
                    f"position {last} is past the curve, whose last position is {len(self)}: give a longer curve, "
                    "or leave out these documents"
                )
            return code.astype(np.int64)
        by_name = {name: at for at, name in enumerate(self.names, 1)}
        # A category that no row has may be unknown.
        if unknown := [names[k - 1] for k in np.unique(code[code > 0]) if names[k - 1] not in by_name]:
            raise ValueError(
                f"position {quote(unknown[0])} is not on the curve, whose names are {listed(by_name)}: give a curve "
                "with all names or leave out these documents"
            )
        return np.array([0, *(by_name.get(name, 0) for name in names)])[code]


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
    >>> log.labels([0], ["y"], propensities=AffineBias([1, 0.5], [0, 0.2]))  # (1 − 2 · 0.2) / (2 · 0.5)
    array([0.6])

    """

    alpha: tuple[float | None, ...]
    beta: tuple[float | None, ...]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for field in ("alpha", "beta"):
            object.__setattr__(self, field, floats_or_none(field, getattr(self, field)))
        if [b is not None and math.isfinite(b) for b in self.beta] != [a is not None for a in self.alpha]:
            raise ValueError("beta must be finite numbers, one for each position as in alpha")
        if not all(a is None or 0 < a < math.inf for a in self.alpha):
            raise ValueError(f"alpha is {self.alpha}: give finite numbers above 0")
        object.__setattr__(self, "names", self._curve.names)

    @property
    def _curve(self) -> Propensities:
        """A curve of the same positions."""
        return Propensities(tuple(a and 1.0 for a in self.alpha), names=self.names)

    def at_positions(self, positions: Positions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """α and β of each row, NaN where it was not shown; categories are matched by name."""
        curve = self._curve
        return curve.at_positions(positions, self.alpha), curve.at_positions(positions, self.beta)


# Of which texts of objectives and measures make a curve.
CURVES: dict[str, Any] = {"Propensities": Propensities, "Propensities.load": Propensities.load}


def floats_or_none(field: str, given: Any) -> tuple[float | None, ...]:
    """A field as floats, from any sequence or array of numbers; None and masked values stay None."""
    found = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise TypeError(f"{field} must be numbers, one for each position, got {given!r}")
    values = tuple(found)
    if wrong := [v for v in values if v is not None and (isinstance(v, bool) or not isinstance(v, Real))]:
        raise TypeError(f"{field} must be numbers, one for each position: got {wrong[0]!r}")
    return tuple(None if value is None else float(value) for value in values)


def _checked_names(names: Any, n: int) -> tuple[str, ...]:
    ordered = not isinstance(names, str | Set) and isinstance(names, Iterable)
    if not ordered or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be a sequence of strings, one for each position, got {names!r}")
    if not len(set(names)) == len(names) == n:
        raise ValueError(f"names has {len(set(names))} different names, but there are {n} values")
    return tuple(map(str, names))
