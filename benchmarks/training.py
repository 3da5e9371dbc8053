"""Time of λ inside trainings: caches cold, the engine's threads awake."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.data import made
from benchmarks.engines import ENGINES, Engine
from benchmarks.plan import Case, Plan
from benchmarks.replay import Kept, Replay
from benchmarks.section import Section
from benchmarks.timing import Timed, alternate
from lambdaboost import NDCG, LambdaRank

Clock = Callable[[], float]
METHOD = """\
LambdaRank(): the time inside its calls during the training, per round, with everything that a call does. \
Native: native training time − training time with replayed gradients, which grows the same trees. Whole training: \
native over lambdaboost. Each figure is the median of alternating repetitions, with the lowest and highest; ratios are \
taken inside a repetition. Above 1× lambdaboost is faster. All pairs unless a truncation is named."""


class Stopwatch(Kept):
    """A callable with the seconds that its calls took."""

    def __init__(self, function: Callable[..., Any], clock: Clock = time.perf_counter) -> None:
        self.function, self.clock = function, clock
        self.seconds = 0.0

    def __call__(self, *args: Any) -> Any:
        """Call and time."""
        start = self.clock()
        result = self.function(*args)
        self.seconds += self.clock() - start
        return result

    def taken(self) -> float:
        """The seconds since it was last asked."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


def training(plan: Plan, threads: int) -> Section:
    """λ of every case on both engines."""
    rows: list[tuple[str, ...]] = []
    for case in plan.trained:
        for name, make in ENGINES.items():
            engine = make(made(case.shape), threads)
            rows.append((str(case), name, *_cells(gradient_inside(engine, case, plan))))
    heads = (
        "queries × documents",
        "against",
        "λ and μ",
        "whole training",
        "LambdaRank(), a round",
        "native, a round",
    )
    method = f"{METHOD} {plan.rounds_trained} rounds, {plan.repetitions} repetitions."
    return Section("λ and μ inside a training", method, heads, tuple(rows))


def _cells(found: dict[str, Timed]) -> list[str]:
    """Ratios, and seconds as milliseconds."""
    return [one.ratio() if name in ("ratio", "whole") else one.milliseconds() for name, one in found.items()]


def gradient_inside(
    engine: Engine, case: Case, plan: Plan, clock: Clock = time.perf_counter
) -> dict[str, Timed]:
    """Ratios and seconds of λ."""
    truncation, rounds = case.truncation or case.shape.documents, plan.rounds_trained
    replay = Replay(engine.record(truncation, rounds))
    objective = Stopwatch(LambdaRank(NDCG(k=case.truncation)), clock)
    jobs = {
        "own": lambda: engine.train(None, rounds, truncation),
        "without": lambda: engine.train(replay, rounds),
        "timed": lambda: engine.train(objective, rounds),
    }
    jobs["timed"]()  # compiles, and makes what is made once for a data set
    jobs["without"]()
    objective.taken()
    inside: list[float] = []

    def timed_inside() -> None:
        engine.train(objective, rounds)
        inside.append(objective.taken())

    seconds = alternate(jobs | {"timed": timed_inside}, plan.repetitions, clock)
    here, native = Timed(tuple(inside)) / rounds, (seconds["own"] - seconds["without"]) / rounds
    return {
        "ratio": native / here,
        "whole": seconds["own"] / seconds["timed"],
        "here": here,
        "native": native,
    }
