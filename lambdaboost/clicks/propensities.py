"""`Propensities`: the probability that a user looks at each position."""

from __future__ import annotations

import json
import math
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
        super().__post_init__()
        for field in ("values", "low", "high"):
            given = getattr(self, field)
            if field != "values" and given is None:
                continue
            if not isinstance(given, tuple) or not all(isinstance(value, float | None) for value in given):
                raise TypeError(f"{field} must be numbers, one for each position: got {given!r}")
        n = len(self.values)
        if set(self.values) <= {None}:
            raise ValueError("values has no propensity: give one for each position, None where unknown")
        if (self.low is None) != (self.high is None):
            raise ValueError("give both ends of the intervals, low and high, or neither")
        low, high = self.low or self.values, self.high or self.values
        if (len(low), len(high)) != (n, n):
            raise ValueError(
                f"low and high have {len(low)} and {len(high)} ends, values has {n}: give one for each"
            )
        for at, (least, value, most) in enumerate(zip(low, self.values, high, strict=True)):
            if least is None and value is None and most is None:
                continue
            if least is None or value is None or most is None:
                raise ValueError(f"low[{at}], high[{at}] and values[{at}]: give None in all three or in none")
            if not 0 < value <= 1:
                raise ValueError(
                    f"values[{at}] is {value:g}: the propensity of position {at + 1} must be above 0 and at most 1"
                )
            if not 0 <= least <= most < math.inf:
                raise ValueError(
                    f"low[{at}] is {least:g} and high[{at}] {most:g}: give finite ends with 0 ≤ low ≤ high"
                )
        if (names := self.names) is None:
            return
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"names must be a sequence of strings, one for each position, got {names!r}")
        if not len(set(names)) == len(names) == n:
            raise ValueError(f"names has {len(set(names))} different names, but there are {n} values")

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
        fields = {name: value for name, value in self._fields().items() if value is not None}
        with replacing(path) as file:
            file.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")
        return path

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        if len(self) <= ALL_SHOWN and self.low is None:
            return super().__repr__()
        words = ["None" if value is None else f"{value:.2g}" for value in self.values]
        if len(self) > ALL_SHOWN:
            words = [*words[:2], "…", words[-1]]
        return f"{type(self).__name__}({counted(len(self), 'position')}: {', '.join(words)})"

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

    def of(self, q: Queries, rows: Any = slice(None)) -> NDArray[np.float64]:
        """The value at the position of each document, or of some rows, float64; NaN where it was not shown."""
        return self.at_positions(Positions(q.required_position()[rows], q.position_names))

    def at_positions(self, positions: Positions) -> NDArray[np.float64]:
        """The value of each row, by the name of its position if it has one; NaN where it was not shown."""
        names, code, values = (
            positions.names,
            positions.codes,
            np.append(np.nan, np.array(self.values, float)),
        )
        if (names is None) != (self.names is None):
            of_data, of_curve = (
                "ranks" if one is None else f"names ({listed(one, 3)})" for one in (names, self.names)
            )
            raise ValueError(
                f"positions of the data are {of_data}, those of the curve {of_curve}: give both the same"
            )

        # The place of each row's position on the curve from 1, 0 where it was not shown, -1 where the curve lacks it.
        if names is not None and self.names is not None:
            by_name = {name: place for place, name in enumerate(self.names, 1)}
            place = np.array([0, *(by_name.get(name, -1) for name in names)])[code]
        else:
            place = np.where(code > len(self), -1, code)
        found = np.where(place < 0, np.nan, values[place])
        if (unknown := np.isnan(found) & (place != 0)).any():
            row = int(unknown.argmax())
            which = str(code[row]) if names is None else quote(names[code[row] - 1])
            if place[row] < 0:
                lacking = f"past the curve, whose last position is {len(self)}"
                if self.names is not None:
                    lacking = f"not on the curve, whose names are {listed(self.names)}"
                raise ValueError(
                    f"position {which} is {lacking}: give a curve of all positions, or leave out these documents"
                )
            raise ValueError(
                f"position {which} has no propensity on the curve: fill it by extended(), a power curve, or leave out "
                "these documents"
            )
        return found


# Of which texts of objectives and measures make a curve.
CURVES: dict[str, Any] = {
    "Propensities": Propensities,
    "Propensities.load": Propensities.load,
    "Propensities.power": Propensities.power,
}
