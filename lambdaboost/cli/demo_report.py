"""The report page of ``lambdaboost demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lambdaboost.cli.demo_systems import Outcome, Parts
from lambdaboost.cli.report import recorder_for
from lambdaboost.datasets import Collection
from lambdaboost.diagnostics import Recorder, pictures, replay
from lambdaboost.engines.engine import Engine
from lambdaboost.evaluation import NDCG, System, report
from lambdaboost.objectives import LambdaRank


def write_page(
    path: Path, engine: Engine, outcomes: list[Outcome], parts: Parts, rounds: int, seed: int
) -> None:
    """Write the page: the systems on the test part, with curves and diagnostics on the validation part."""
    # Diagnostics are of sums over pairs, which Constrained is not.
    of_pairs = next(o.contender for o in outcomes[::-1] if isinstance(o.contender.objective, LambdaRank))
    recorders = {
        o.contender.name: _replayed(o, parts.valid, rounds, o.contender is of_pairs) for o in outcomes
    }
    options = f"--engine {engine.name} --queries {_queries(parts)} --rounds {rounds} --seed {seed}"
    run: dict[str, Any] = {
        "Command": f"lambdaboost demo {options}",
        "Data": "a synthetic search log: its test part; for curves and diagnostics a sample of its validation part",
    }
    report(
        path,
        *(System(o.contender.name, o.scores, parts.test.queries) for o in outcomes),
        histories={name: {"validation sample": _curve(recorder)} for name, recorder in recorders.items()},
        diagnostics=pictures(recorders[of_pairs.name], of=of_pairs.name),
        importance={o.contender.name: _importance(engine, o, parts.test) for o in outcomes},
        run=run | {o.contender.name: _facts(engine, o, rounds, seed) for o in outcomes},
        title=f"lambdaboost demo, {engine.name}",
    )


def _importance(engine: Engine, outcome: Outcome, part: Collection) -> dict[str, float]:
    """The total gain of each feature."""
    gains = map(float, engine.importance(outcome.booster))
    return dict(zip(part.feature_names or (), gains, strict=True))


def _replayed(outcome: Outcome, part: Collection, rounds: int, diagnosed: bool) -> Recorder:
    recorder = recorder_for(outcome.contender.objective, part.features, part.queries, rounds, diagnosed)
    return replay(recorder, outcome.booster)


def _curve(recorder: Recorder) -> dict[str, dict[int, float]]:
    measure = repr(NDCG(recorder.k))
    values = recorder.frame()[measure]
    return {measure: {int(round_) + 1: float(value) for round_, value in values.items()}}


def _facts(engine: Engine, outcome: Outcome, rounds: int, seed: int) -> dict[str, Any]:
    contender = outcome.contender
    objective = engine.native if contender.leaves is None else repr(contender.objective)
    return {
        "objective": f"{objective}, of {engine.name}" if contender.leaves is None else objective,
        "leaves": contender.leaves or "engine",
        "rounds": rounds,
        "params": {"learning_rate": outcome.learning_rate, "seed": seed},
        "validation NDCG@3 by learning rate": ", ".join(
            f"{figure:.4f} at {rate:g}" for rate, figure in outcome.validation.items()
        ),
    }


def _queries(parts: Parts) -> int:
    return sum(part.queries.n_queries for part in (parts.train, parts.valid, parts.test))
