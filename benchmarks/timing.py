"""Medians of alternating repetitions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import linregress

Job = Callable[[], Any]


@dataclass(frozen=True)
class Timed:
    """One value per repetition: seconds, or a ratio of times in the same repetition."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the repetitions."""
        return median(self.values)

    def __sub__(self, other: Timed) -> Timed:
        return Timed(tuple(a - b for a, b in zip(self.values, other.values, strict=True)))

    def __truediv__(self, other: Timed | float) -> Timed:
        if isinstance(other, Timed):
            return Timed(tuple(a / b for a, b in zip(self.values, other.values, strict=True)))
        return Timed(tuple(a / other for a in self.values))

    def text(self, unit: str = "", scale: float = 1.0) -> str:
        """The median with the lowest and highest, to three digits: ``2.10 ms (1.98–2.40)``."""
        low, middle, high = (_digits(scale * x) for x in (min(self.values), self.median, max(self.values)))
        spread = f" ({low}–{high})" if len(self.values) > 1 else ""
        return f"{middle}{unit}{spread}"

    def ratio(self) -> str:
        """As a ratio, ``2.10×``."""
        return self.text("×")

    def milliseconds(self) -> str:
        """Seconds shown as milliseconds."""
        return self.text(" ms", 1e3)


def _digits(x: float) -> str:
    """Three significant digits; no decimals from 100 on."""
    return f"{x:,.0f}" if abs(x) >= 99.95 else f"{x:.1f}" if abs(x) >= 9.995 else f"{x:.3g}"


def alternate(
    jobs: Mapping[str, Job], repetitions: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Timed]:
    """Seconds of each job, timed in turns (A B C A B C …), so that changes of the machine's speed affect all jobs.

    Callers must warm up jobs beforehand. `clock` is `time.process_time` for processor time.
    """
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repetitions):
        for name, job in jobs.items():
            start = clock()
            job()
            seconds[name].append(clock() - start)
    return {name: Timed(tuple(values)) for name, values in seconds.items()}


@dataclass(frozen=True)
class Slope:
    """The slope of log seconds over log documents, with its standard error."""

    slope: float
    error: float

    def __str__(self) -> str:
        return f"{self.slope:.3f} ± {self.error:.3f}"


def fitted(seconds: Mapping[int, float]) -> Slope:
    """Fit the slope to medians."""
    found = linregress(np.log(list(seconds)), np.log(list(seconds.values())))
    return Slope(float(found.slope), float(found.stderr))
