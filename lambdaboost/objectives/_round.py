"""Which boosting round is being computed, asked of the booster that asks for the gradient."""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

# LightGBM's boosters in training: the rounds that each had before its first gradient here, and how many were asked for
# since. Its own count of trees would not do: a tree without a split is dropped again, but its round has passed.
_asked: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()


def boosting_round() -> int:
    """The round, from 0, of the booster whose `update` called this function, counting those of a continued model.

    Both engines call a custom objective from their Python method `Booster.update`; neither hands it the round, nor
    could a count of calls find it: `cv` interleaves its folds, and a continued model starts at its own length. Called
    outside any booster it is 0, the first round.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        caller: Any = frame.f_locals.get("self") if frame.f_code.co_name in ("update", "boost") else None
        if hasattr(caller, "num_boosted_rounds"):
            return int(caller.num_boosted_rounds())
        if hasattr(caller, "current_iteration") and hasattr(caller, "rollback_one_iter"):
            before, asked = _asked.get(caller, (caller.current_iteration(), 0))
            _asked[caller] = before, asked + 1
            return int(before + asked)
        frame = frame.f_back
    return 0


def continue_at(booster: Any, rounds: int) -> None:
    """Count on from `rounds` for a LightGBM booster, which has fewer trees than that where some had no split."""
    _asked[booster] = rounds, 0
