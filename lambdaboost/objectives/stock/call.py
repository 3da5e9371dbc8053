"""The stock engine that asks an objective for its gradient: which booster, and in which boosting round.

Neither engine hands them over, but both ask from their Python method `Booster.update`, so they are read off the calling
frames. `lambdaboost.lightgbm.train` and its like need none of this: see `lambdaboost.engines.rounds`.
"""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

from lambdaboost.objectives.stock.round_count import RoundCount, iterations_of

# LightGBM's boosters in training. XGBoost's need no count: it reports rounds without a split too.
_counts: weakref.WeakKeyDictionary[Any, RoundCount] = weakref.WeakKeyDictionary()
# Names no variable, so it cannot clash with those of `update`.
_MARK = "lambdaboost: round of this update"


class StockCall:
    """One call of `Booster.update`, which is one boosting round however often it asks for a gradient.

    It is stored among the local variables of `update` and nowhere else, so it ends when `update` returns. Only then can
    a round whose tree had no split, which LightGBM drops, be told from one that is rolled back later.

    Attributes
    ----------
    iteration : int
        The round, from 0, counting those of a continued model.
    answered : bool
        Whether a gradient was given. A round that failed is not counted.

    """

    def __init__(self, booster: Any) -> None:
        now = iterations_of(booster)
        self._booster = weakref.ref(booster)
        self.iteration = _counts.get(booster, RoundCount(now, now)).current(now)
        self.answered = False

    @property
    def booster(self) -> Any:
        """The booster that `update` was called of."""
        return self._booster()

    def __del__(self) -> None:
        booster = self._booster()
        if self.answered and booster is not None and hasattr(booster, "current_iteration"):
            _counts[booster] = RoundCount(self.iteration + 1, iterations_of(booster))


def stock_call() -> StockCall | None:
    """The call of `Booster.update` that led here, through any number of other functions; None outside any."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        variables = frame.f_locals if frame.f_code.co_name in ("update", "boost") else {}
        booster = variables.get("self")
        if hasattr(booster, "num_boosted_rounds") or (
            hasattr(booster, "current_iteration") and hasattr(booster, "rollback_one_iter")
        ):
            if _MARK not in variables:
                variables[_MARK] = StockCall(booster)
            call: StockCall = variables[_MARK]
            return call
        frame = frame.f_back
    return None
