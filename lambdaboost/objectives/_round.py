"""Which boosting round is being computed, asked of the booster that asks for the gradient."""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

# LightGBM's boosters in training: the rounds that each had before its first gradient here, and how many were asked for
# since. Its own count of trees would not do: a tree without a split is dropped again, but its round has passed.
_asked: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()


def boosting_round(booster: Any) -> int:
    """The round, from 0, that a booster asks the gradient of, counting those of a continued model; 0 outside any.

    Neither engine hands it over, nor could a count of calls find it: `cv` interleaves its folds, and a continued model
    starts at its own length.
    """
    if booster is None:
        return 0
    if hasattr(booster, "num_boosted_rounds"):
        return int(booster.num_boosted_rounds())
    before, asked = _asked.get(booster, (booster.current_iteration(), 0))
    _asked[booster] = before, asked + 1
    return int(before + asked)


def asking_booster() -> Any:
    """The booster whose `update` called this function, through any number of others; None outside any.

    Both engines call a custom objective from their Python method `Booster.update`.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        caller: Any = frame.f_locals.get("self") if frame.f_code.co_name in ("update", "boost") else None
        if hasattr(caller, "num_boosted_rounds") or (
            hasattr(caller, "current_iteration") and hasattr(caller, "rollback_one_iter")
        ):
            return caller
        frame = frame.f_back
    return None


def continue_at(booster: Any, rounds: int) -> None:
    """Count on from `rounds` for a LightGBM booster, which has fewer trees than that where some had no split."""
    _asked[booster] = rounds, 0
