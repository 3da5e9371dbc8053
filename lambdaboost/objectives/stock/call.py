"""The booster and the boosting round of a stock engine that calls an objective.

Neither engine passes them, but both call from their Python method `Booster.update`, so they are read from the calling
frames. `lambdaboost.lightgbm.train` and its counterparts do not need this: see `lambdaboost.engines.rounds`.
"""

from __future__ import annotations

import weakref
from typing import Any

from lambdaboost._stock import lightgbm, xgboost
from lambdaboost._stock.frames import owner, waiting
from lambdaboost.objectives.stock.round_count import RoundCount, iterations_of

# LightGBM's boosters in training. XGBoost's need no count: they report rounds without a split too.
_counts: weakref.WeakKeyDictionary[Any, RoundCount] = weakref.WeakKeyDictionary()
# Not an identifier, so it cannot clash with a variable of `update`.
_MARK = "lambdaboost: round of this update"


class StockCall:
    """One call of `Booster.update`, which is one boosting round however often it asks for a gradient.

    It is stored among the local variables of `update` only, so it is deleted when `update` returns. Only then can a
    round whose tree had no split, which LightGBM drops, be distinguished from one that is rolled back later.

    Attributes
    ----------
    iteration : int
        The round, from 0, counting those of a continued model.
    answered : bool
        Whether a gradient was returned. A round that failed is not counted.

    """

    def __init__(self, booster: Any) -> None:
        now = iterations_of(booster)
        self._booster = weakref.ref(booster)
        self.iteration = _counts.get(booster, RoundCount(now, now)).current(now)
        self.answered = False

    @property
    def booster(self) -> Any:
        """The booster whose `update` was called."""
        return self._booster()

    def __del__(self) -> None:
        booster = self._booster()
        if self.answered and booster is not None and lightgbm.is_booster(booster):
            _counts[booster] = RoundCount(self.iteration + 1, iterations_of(booster))


def stock_call() -> StockCall | None:
    """The call of `Booster.update` that led here, through any number of other functions; None outside any."""
    for frame in waiting():
        booster = owner(frame) if frame.f_code.co_name in ("update", "boost") else None
        if lightgbm.is_booster(booster) or xgboost.is_booster(booster):
            variables = frame.f_locals
            if _MARK not in variables:
                variables[_MARK] = StockCall(booster)
            call: StockCall = variables[_MARK]
            return call
    return None
