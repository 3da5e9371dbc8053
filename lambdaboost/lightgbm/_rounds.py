"""The boosting round in `lightgbm.train` and `lightgbm.cv`, told to an objective through callbacks."""

from __future__ import annotations

from typing import Any

from lambdaboost.engines.rounds import ToldRounds
from lambdaboost.lightgbm._callback import LAST, Callback, boosters_of


def round_callbacks(told: ToldRounds, rounds_done: int | None = None) -> list[Callback]:
    """Callbacks that tell `told` its rounds, in a training that goes on after `rounds_done` rounds of its own."""

    def start(env: Any) -> None:
        for booster in boosters_of(env):
            if env.iteration == env.begin_iteration:
                told.begin(booster, booster.train_set, rounds_done)
            told.start_round(booster.train_set)

    def end(env: Any) -> None:
        for booster in boosters_of(env):
            told.end_round(booster.train_set)

    # Other callbacks may roll rounds back: before a round they come first, after it last.
    return [Callback(start, True, LAST), Callback(end, False)]
