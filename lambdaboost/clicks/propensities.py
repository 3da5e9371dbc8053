"""`Propensities`: the probability that a user looks at a position, by position."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._value import Value
from lambdaboost.datasets import Queries
from lambdaboost.datasets._files import check_place, reading, replacing
from lambdaboost.datasets.positions import Positions

FIELDS = ("values", "low", "high", "names")


@dataclass(frozen=True, repr=False)
class Propensities(Value):
    """The probability that a user looks at each position, relative to the best position.

    In the position-based model P(click) = P(look | position) · P(attracts | query, document) (Richardson, Dominowska
    & Ragno 2007; Wang et al. 2018, section 4). Clicks determine the first factor only up to a constant, so only the
    ratios of the values matter.

    Parameters
    ----------
    values : sequence of float
        One value in (0, 1] for each position, position 1 first.
    low, high : sequence of float, optional
        An interval for each value, both or neither; `high` may exceed 1, since the curve is relative.
    names : sequence of str, optional
        The name of each position if positions are categories, such as places on the page: code 1 first, as in
        ``Queries.position_names``.

    Raises
    ------
    TypeError, ValueError
        If a value is not a number in (0, 1], or the other fields do not fit the values.

    Examples
    --------
    >>> p = Propensities([1, 0.5, 0.25])
    >>> p
    Propensities(values=(1.0, 0.5, 0.25))
    >>> p.at([3, 1, 1])
    array([0.25, 1.  , 1.  ])
    >>> Propensities.power(2, 3).values
    (1.0, 0.25, 0.1111111111111111)

    """

    values: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "values", _numbers("values", self.values))
        if not self.values:
            raise ValueError("values is empty: give one propensity for each position")
        for at, value in enumerate(self.values):
            if not 0 < value <= 1:
                raise ValueError(
                    f"values[{at}] is {value:g}: the propensity of position {at + 1} must be above 0 and at most 1"
                )
        if (self.low is None) != (self.high is None):
            raise ValueError("give both ends of the intervals, low and high, or neither")
        if self.low is not None and self.high is not None:
            set_(self, "low", _numbers("low", self.low))
            set_(self, "high", _numbers("high", self.high))
            self._check_intervals(self.low, self.high)
        if self.names is not None:
            named = not isinstance(self.names, str | Set) and isinstance(self.names, Iterable)
            if not named or not all(isinstance(name, str) for name in self.names):
                raise TypeError(
                    f"names must be a sequence of strings, one for each position, got {self.names!r}"
                )
            set_(self, "names", tuple(map(str, self.names)))
            if len(self.names) != len(self.values) or len(set(self.names)) != len(self.names):
                raise ValueError(
                    f"names has {len(set(self.names))} different names, but there are {len(self.values)} values"
                )

    def _check_intervals(self, low: tuple[float, ...], high: tuple[float, ...]) -> None:
        if len(low) != len(self.values) or len(high) != len(self.values):
            raise ValueError(
                f"low and high have {len(low)} and {len(high)} ends, values has {len(self.values)}: give one for each"
            )
        for at, (least, most) in enumerate(zip(low, high, strict=True)):
            if not 0 <= least <= most < math.inf:
                raise ValueError(
                    f"low[{at}] is {least:g} and high[{at}] {most:g}: give finite ends with 0 ≤ low ≤ high"
                )

    @classmethod
    def power(cls, eta: float, k: int) -> Self:
        """The curve 1/rank^η of `k` positions; η = 0 is no bias (Joachims et al. 2017).

        >>> Propensities.power(1.0, 4).values
        (1.0, 0.5, 0.3333333333333333, 0.25)
        """
        if not (isinstance(eta, int | float | np.number) and 0 <= eta < math.inf):
            raise ValueError(f"eta is {eta!r}: give a finite number ≥ 0; 0 is no bias")
        if not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(f"k is {k!r}: give the number of positions, a whole number ≥ 1")
        return cls(tuple((1.0 / np.arange(1, int(k) + 1) ** float(eta)).tolist()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a curve that `save` wrote."""
        path = Path(path)
        with reading(path) as file:
            text = file.read()
        try:
            found = json.loads(text)
            if not isinstance(found, dict) or not {"values"} <= set(found) <= set(FIELDS):
                raise ValueError("it needs values, and may have low, high and names")
            return cls(**found)
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

    def at(self, position: ArrayLike) -> NDArray[np.float64]:
        """The value at each position.

        Parameters
        ----------
        position : array of int, or of str
            Positions from 1; names if the curve has names.

        Returns
        -------
        float64 array of the same shape

        Raises
        ------
        TypeError, ValueError
            If a position is not a whole number from 1 to the length of the curve, or not a name of it.

        """
        given = np.asarray(position)
        if given.dtype.kind in "UO":
            return self._named(given)
        whole = given.astype(np.float64) if given.dtype.kind in "iuf" else None
        if whole is None:
            raise TypeError(f"position must be whole numbers from 1, got {given.dtype}")
        if (bad := ~((whole >= 1) & (whole == np.floor(whole)))).any():
            raise ValueError(
                f"position {whole[bad].flat[0]:g} has no propensity: positions are whole numbers from 1; "
                "leave out documents that were not shown"
            )
        if (bad := whole > len(self.values)).any():
            raise ValueError(
                f"position {whole[bad].max():.0f} is past the curve, whose last position is {len(self.values)}: "
                "give a longer curve or leave out these documents"
            )
        return np.array(self.values)[whole.astype(np.intp) - 1]

    def _named(self, given: NDArray[Any]) -> NDArray[np.float64]:
        if self.names is None:
            raise TypeError("position must be whole numbers from 1: this curve has no names")
        by_name = dict(zip(self.names, self.values, strict=True))
        found = [by_name.get(name) for name in given.ravel().tolist()]
        if None in found:
            unknown = given.ravel().tolist()[found.index(None)]
            raise ValueError(
                f"position {unknown!r} is not on the curve, whose names are {', '.join(self.names)}: "
                "give a curve with all names or leave out these documents"
            )
        return np.array(found, dtype=np.float64).reshape(given.shape)

    def of(self, q: Queries) -> NDArray[np.float64]:
        """The value at the position of each document, float64 (n_documents,); NaN where it was not shown.

        Raises
        ------
        ValueError
            If `q` has no positions, one is past the curve, or its categories are not those of the curve.

        """
        return self.at_positions(Positions(q.required_position(), q.position_names))

    def at_positions(self, positions: Positions) -> NDArray[np.float64]:
        """The value of each row, NaN where it was not shown; categories are matched by name."""
        names, code = positions.names, positions.codes
        if names is not None and self.names is None:
            raise ValueError(
                f"positions are categories ({', '.join(names[:3])}, …), but the curve has no names: "
                "give names= to Propensities"
            )
        if names is None and self.names is not None:
            raise ValueError(
                "the curve is of named positions, but those of the data are ranks: give the names as position, or a "
                "curve without names"
            )
        shown = code > 0
        result = np.full(code.shape, np.nan)
        if names is None:
            result[shown] = self.at(code[shown])
        else:
            used = np.unique(code[shown])  # a category that no row has may be unknown
            value = np.full(len(names) + 1, np.nan)
            value[used] = self.at(np.array([names[at - 1] for at in used], dtype=np.str_))
            result[shown] = value[code[shown]]
        return result

    def scaled(self) -> Self:
        """The same curve relative to its largest value, which becomes 1.

        >>> Propensities([0.2, 0.4]).scaled()
        Propensities(values=(0.5, 1.0))
        """
        largest = max(self.values)

        def part(ends: tuple[float, ...] | None) -> tuple[float, ...] | None:
            return None if ends is None else tuple(end / largest for end in ends)

        return type(self)(
            tuple(v / largest for v in self.values), part(self.low), part(self.high), self.names
        )

    def covers(self, other: Propensities) -> NDArray[np.bool_]:
        """Whether the interval of each position contains the value of another curve, such as the true one.

        The other curve is first scaled to agree at the best position of this one, to which the intervals refer.

        >>> Propensities([1, 0.5], [1, 0.4], [1, 0.6]).covers(Propensities([0.5, 0.2]))
        array([ True,  True])
        """
        if self.low is None or self.high is None:
            raise ValueError("this curve has no intervals: estimate it with intervals=200")
        if other.names != self.names or len(other) < len(self):
            raise ValueError(
                f"the other curve has {len(other)} positions, this one {len(self)}: give one of the same positions"
            )
        best = int(np.argmax(self.values))
        value = np.array(other.values[: len(self)]) * (self.values[best] / other.values[best])
        slack = 1e-9  # an interval of one point contains that point
        return (np.array(self.low) - slack <= value) & (value <= np.array(self.high) + slack)

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw the curve with its intervals on matplotlib Axes, by default on a new figure; returns the Axes.

        Further arguments, such as ``label=`` and ``color=``, are those of ``Axes.errorbar``.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1]
        x = np.arange(1, len(self) + 1)
        error = None
        if self.low is not None and self.high is not None:
            value = np.array(self.values)
            # Percentiles may lie on one side of the value; such an end is drawn at the value.
            error = np.maximum([value - np.array(self.low), np.array(self.high) - value], 0)
        ax.errorbar(x, self.values, yerr=error, **{"marker": "o", "markersize": 4, "capsize": 3, **line})
        ax.set_xlabel("Position")
        ax.set_ylabel("Propensity, relative to the best position")
        ax.set_ylim(bottom=0)
        ax.set_xticks(x if len(self) <= 20 or self.names else x[:: math.ceil(len(self) / 10)], self._ticks(x))
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
        return ax

    def _ticks(self, x: NDArray[np.int64]) -> Sequence[str] | None:
        if self.names is None:
            return None
        return [name.replace("$", r"\$") for name in self.names]


def _numbers(field: str, given: Any) -> tuple[float, ...]:
    """A field as floats, from any sequence or array of numbers."""
    try:
        if isinstance(given, str | bytes):
            raise TypeError("got text")
        a = given.filled(np.nan) if np.ma.isMaskedArray(given) else np.asarray(given)
        if a.dtype.kind not in "iuf" and a.size:
            raise TypeError(f"got {a.dtype}")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{field} must be numbers, one for each position: {error}") from None
    if a.ndim != 1:
        raise ValueError(f"{field} has shape {a.shape}, expected one dimension: one number for each position")
    return tuple(a.astype(np.float64).tolist())
