"""Time of λ and of measures inside trainings: caches cold, the engine's threads awake."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.data import made
from benchmarks.engines import ENGINES, Engine
from benchmarks.plan import Case, Plan, Shape
from benchmarks.replay import Kept, Replay
from benchmarks.section import Section
from benchmarks.timing import Timed, alternate
from lambdaboost import NDCG, LambdaRank

Clock = Callable[[], float]
MEASURE = NDCG(3)
SHARED = """\
Native: native training time − training time {without}, which grows the same trees. Whole training: native over \
lambdaboost. Each figure is the median of alternating repetitions, with the lowest and highest; ratios are taken \
inside a repetition. Above 1× lambdaboost is faster."""
METHOD = f"""\
LambdaRank(): the time inside its calls during the training, per round, with everything that a call does. \
{SHARED.format(without="with replayed gradients")} All pairs unless a truncation is named."""
EVALUATION = f"""\
NDCG(3): the time inside its calls as feval or custom_metric, evaluated on the training data in every round. \
{SHARED.format(without="without a metric")} All trainings replay gradients."""


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
    return Section("λ and μ inside a training", _method(METHOD, plan), heads, tuple(rows))


def evaluation(plan: Plan, threads: int) -> Section:
    """NDCG@3 in every round, at every shape, on both engines."""
    rows: list[tuple[str, ...]] = []
    for shape in dict.fromkeys(case.shape for case in plan.trained):
        for name, make in ENGINES.items():
            engine = make(made(shape), threads)
            rows.append((str(shape), name, *_cells(measure_inside(engine, shape, plan))))
    heads = (
        "queries × documents",
        "against",
        "NDCG@3",
        "whole training",
        "NDCG(3), a round",
        "native, a round",
    )
    return Section("A measure inside a training", _method(EVALUATION, plan), heads, tuple(rows))


def _method(text: str, plan: Plan) -> str:
    return f"{text} {plan.rounds_trained} rounds, {plan.repetitions} repetitions."


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
    return _compared(
        objective,
        rounds,
        plan,
        own=lambda: engine.train(None, rounds, truncation),
        without=lambda: engine.train(replay, rounds),
        timed=lambda: engine.train(objective, rounds),
    )


def measure_inside(engine: Engine, shape: Shape, plan: Plan) -> dict[str, Timed]:
    """Ratios and seconds of NDCG@3."""
    rounds = plan.rounds_trained
    replay = Replay(engine.record(30, rounds))
    measure = Stopwatch(MEASURE)
    return _compared(
        measure,
        rounds,
        plan,
        own=lambda: engine.train(replay, rounds, metric="ndcg@3"),
        without=lambda: engine.train(replay, rounds),
        timed=lambda: engine.train(replay, rounds, metric=measure),
    )


def _compared(
    watch: Stopwatch,
    rounds: int,
    plan: Plan,
    *,
    own: Callable[[], Any],
    without: Callable[[], Any],
    timed: Callable[[], Any],
) -> dict[str, Timed]:
    """Native cost against the time inside the calls of `watch`, and whole trainings."""
    timed()  # compiles, and makes what is made once for a data set
    without()
    watch.taken()
    inside: list[float] = []

    def timed_inside() -> None:
        timed()
        inside.append(watch.taken())

    seconds = alternate(
        {"own": own, "without": without, "timed": timed_inside}, plan.repetitions, watch.clock
    )
    here, native = Timed(tuple(inside)) / rounds, (seconds["own"] - seconds["without"]) / rounds
    return {
        "ratio": native / here,
        "whole": seconds["own"] / seconds["timed"],
        "here": here,
        "native": native,
    }
