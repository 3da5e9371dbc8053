"""`Knob`: a number that the search sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Knob:
    """A number that the search sets: its range, and the value that it starts from.

    Attributes
    ----------
    name : str
        Its name in the search.
    low, high, start : float
        The range, both ends included, and the first value.
    log : bool
        Whether it is searched by its logarithm.
    whole : bool
        Whether it is a whole number.

    """

    name: str
    low: float
    high: float
    start: float
    log: bool = False
    whole: bool = False

    def suggested(self, trial: Any, name: str) -> float:
        """The value that an Optuna trial suggests, with four digits, so that scripts stay readable."""
        if self.whole:
            return int(trial.suggest_int(name, int(self.low), int(self.high), log=self.log))
        return float(f"{trial.suggest_float(name, self.low, self.high, log=self.log):.4g}")

    def distribution(self, distributions: Any) -> Any:
        """Its range as one of Optuna's `distributions`."""
        if self.whole:
            return distributions.IntDistribution(int(self.low), int(self.high), log=self.log)
        return distributions.FloatDistribution(self.low, self.high, log=self.log)
