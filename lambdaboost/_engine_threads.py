"""The threads that an engine trains with."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lambdaboost._engine_team import called_by_team, team_of
from lambdaboost._stock import lightgbm, xgboost
from lambdaboost._stock.frames import owner, waiting
from lambdaboost._threads import using

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
    if not xgboost.is_booster(booster):
        return _positive(lightgbm.threads_given(booster))
    if booster not in _of_xgboost:
        _of_xgboost[booster] = _positive(xgboost.settings(booster).threads)
    return _of_xgboost[booster]


def calling_booster() -> Any:
    """The booster whose method is calling this function, directly or indirectly; None if there is none.

    Neither engine passes its booster to a measure.
    """
    callers = (owner(frame) for frame in waiting())
    return next((one for one in callers if lightgbm.is_booster(one) or xgboost.is_booster(one)), None)


def _positive(value: Any) -> int | None:
    """A positive number of threads, or None, which leaves it to the engine."""
    try:
        n = int(value)
    except (TypeError, ValueError):
        return None
    return n if n > 0 else None
