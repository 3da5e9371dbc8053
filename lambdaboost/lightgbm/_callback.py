"""What LightGBM calls back in the course of a training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FIRST, LAST = float("-inf"), float("inf")


class Callback:
    """A callback that comes before every other one of its kind, or at another place by `order`."""

    def __init__(self, run: Callable[[Any], None], before_iteration: bool, order: float = FIRST) -> None:
        self.run = run
        self.before_iteration = before_iteration
        self.order = order

    def __call__(self, env: Any) -> None:
        self.run(env)


def boosters_of(env: Any) -> list[Any]:
    """The booster of `lightgbm.train`, or those of `lightgbm.cv`, one a fold."""
    boosters = getattr(env.model, "boosters", None)
    return boosters if isinstance(boosters, list) else [env.model]
