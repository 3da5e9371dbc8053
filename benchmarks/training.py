"""Time of λ inside trainings: caches cold, the engine's threads awake."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.data import made
from benchmarks.engines import ENGINES, Engine
from benchmarks.plan import Case, Plan
from benchmarks.replay import Kept, Replay
from benchmarks.section import Section
from benchmarks.timing import Job, Timed, alternate
from lambdaboost import NDCG, LambdaRank, YetiLoss
from lambdaboost.objectives import Objective

Clock = Callable[[], float]
METHOD = """\
λ and μ: the time inside the calls of the objective during a training, with everything that a call does. Native: \
native training time − training time with replayed gradients, which grows the same trees. Whole training: native over \
lambdaboost. Five grades, 31 leaves, 20 features; all pairs, unless a truncation of the engine's own objective is \
named (30 is LightGBM's default; XGBoost's is 32). Medians of alternating repetitions, with the lowest and highest; \
ratios are taken inside a repetition. Above 1× lambdaboost is faster."""
HEADS = (
    "queries × documents",
    "against",
    "objective",
    "λ and μ",
    "whole training",
    "lambdaboost, a round",
    "native, a round",
)


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


def objectives_of(case: Case) -> tuple[Objective, ...]:
    """What is compared with the engine's own objective: those of its truncation as a cutoff, and the default."""
    truncated = NDCG(k=case.truncation)
    return tuple(dict.fromkeys((LambdaRank(truncated), YetiLoss(), YetiLoss(truncated))))


def training(plan: Plan, threads: int) -> Section:
    """λ of every case on both engines."""
    rows: list[tuple[str, ...]] = []
    for case in plan.trained:
        for name, make in ENGINES.items():
            engine = make(made(case.shape), threads)
            for objective, found in gradients_inside(engine, case, plan).items():
                ratios = found["ratio"].ratio(), found["whole"].ratio()
                seconds = found["here"].milliseconds(), found["native"].milliseconds()
                rows.append((str(case), name, f"`{objective}`", *ratios, *seconds))
    method = f"{METHOD} {plan.rounds_trained} rounds, {plan.repetitions} repetitions."
    return Section("λ and μ inside a training", method, HEADS, tuple(rows))


def gradients_inside(
    engine: Engine, case: Case, plan: Plan, clock: Clock = time.perf_counter
) -> dict[str, dict[str, Timed]]:
    """Ratios and seconds of λ, by objective."""
    truncation, rounds = case.truncation or case.shape.documents, plan.rounds_trained
    replay = Replay(engine.record(truncation, rounds))
    watches = {repr(objective): Stopwatch(objective, clock) for objective in objectives_of(case)}
    inside: dict[str, list[float]] = {name: [] for name in watches}

    def timed(name: str) -> None:
        engine.train(watches[name], rounds)
        inside[name].append(watches[name].taken())

    jobs: dict[str, Job] = {name: partial(timed, name) for name in watches}
    jobs["without"] = lambda: engine.train(replay, rounds)
    for job in jobs.values():
        job()  # compiles, and makes what is made once for a data set
    for values in inside.values():
        values.clear()
    seconds = alternate(
        {"own": lambda: engine.train(None, rounds, truncation)} | jobs, plan.repetitions, clock
    )
    native = (seconds["own"] - seconds["without"]) / rounds
    found = {}
    for name, values in inside.items():
        here = Timed(tuple(values)) / rounds
        found[name] = {
            "ratio": native / here,
            "whole": seconds["own"] / seconds[name],
            "here": here,
            "native": native,
        }
    return found
