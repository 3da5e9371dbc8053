"""The threads that an engine trains with."""

from __future__ import annotations

import json
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from lambdaboost._engine_team import called_by_team, team_of
from lambdaboost._threads import using

# LightGBM's names of the parameter: its own first, then its aliases in the order in which it prefers them.
_LIGHTGBM = ("num_threads", "n_jobs", "nthread", "nthreads", "num_thread")

_of_xgboost: weakref.WeakKeyDictionary[Any, int | None] = weakref.WeakKeyDictionary()


@contextmanager
def called_by(booster: Any) -> Iterator[None]:
    """Use the threads of the booster that called, in this block; without a booster, those outside it."""
    n = engine_threads(booster)
    with using(n), called_by_team(team_of(booster, n)):
        yield


def engine_threads(booster: Any) -> int | None:
    """The number of threads of a booster of either engine; None if it was not set, or for no booster."""
    if booster is None:
        return None
    if hasattr(booster, "num_boosted_rounds"):
        if booster not in _of_xgboost:  # writing the configuration takes as long as a short gradient
            learner = json.loads(booster.save_config()).get("learner", {})
            _of_xgboost[booster] = _positive(learner.get("generic_param", {}).get("nthread"))
        return _of_xgboost[booster]
    given = (booster.params[name] for name in _LIGHTGBM if booster.params.get(name) is not None)
    return _positive(next(given, None))


def calling_booster() -> Any:
    """The booster whose method is calling this function, directly or indirectly; None if there is none.

    Neither engine passes its booster to a measure.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_varnames[:1] == ("self",):
            caller: Any = frame.f_locals.get("self")
            if any(hasattr(type(caller), name) for name in ("save_config", "rollback_one_iter")):
                return caller
        frame = frame.f_back
    return None


def _positive(value: Any) -> int | None:
    """A positive number of threads, or None, which leaves it to the engine."""
    try:
        n = int(value)
    except (TypeError, ValueError):
        return None
    return n if n > 0 else None
