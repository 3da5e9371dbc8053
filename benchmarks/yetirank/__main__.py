"""Command line: `python -m benchmarks.yetirank --help`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import count

import numpy as np

import benchmarks.yetirank as protocol
from benchmarks.yetirank.arms import TREES, Arm, arms
from benchmarks.yetirank.tables import (
    Results,
    best_beside_yetirank,
    of_catboost,
    of_engine,
    of_prototypes,
    of_trees,
)
from benchmarks.yetirank.training import CUTOFFS, RATES, SEEDS, Log, Task
from experiments.common.report import versions, write
from experiments.common.script import add_out, at_least, note, run
from experiments.common.workers import Outcome, Workers


def main(arguments: Sequence[str] | None = None) -> Results:
    """Train what is missing, and write report.md."""
    options = _parser().parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    with Workers(options.out / "runs", options.workers, Log) as pool:
        results = _picked(pool, options.seeds)
    has_catboost = find_spec("catboost") is not None
    parts = [of_catboost(results), best_beside_yetirank(results)] if has_catboost else []
    for engine in TREES:
        parts += [of_engine(results, engine), of_trees(results, engine), of_prototypes(results, engine)]
    packages = versions("lightgbm", "xgboost", *(["catboost"] if has_catboost else []))
    command = f"`python -m benchmarks.yetirank --seeds {options.seeds}`. {packages}."
    head = f"{command}\n\n{(protocol.__doc__ or '').strip()}"
    write(options.out, "CatBoost's YetiRank, taken apart", head, parts)
    note(f"written: {options.out / 'report.md'}")
    return results


def _picked(pool: Workers, seeds: int) -> Results:
    """Every arm with the better learning rate of each seed."""
    found = arms()
    tasks = [Task(arm, seed, rate) for seed in range(seeds) for arm in found.values() for rate in RATES]
    outcomes = pool.run({task.key: task for task in tasks}, _counter(len(tasks)))

    def picked(arm: Arm, seed: int) -> Outcome:
        return max((outcomes[Task(arm, seed, rate).key] for rate in RATES), key=lambda o: float(o["valid"]))

    of = {name: [picked(arm, seed) for seed in range(seeds)] for name, arm in found.items()}
    return Results({k: {name: np.array([o[f"NDCG@{k}"] for o in of[name]]) for name in of} for k in CUTOFFS})


def _counter(total: int) -> Callable[[], None]:
    """Prints how many trainings are done, now and then."""
    done = count(1)

    def on_done() -> None:
        if (n := next(done)) % 50 == 0:
            note(f"{n} of {total}")

    return on_done


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks.yetirank", description="CatBoost's YetiRank, one change at a time."
    )
    made.add_argument(
        "--seeds", type=int, choices=range(1, SEEDS + 1), default=SEEDS, help=f"(default: {SEEDS})"
    )
    made.add_argument("--workers", type=at_least(1), default=1, help="trainings at a time (default: 1)")
    add_out(made, "lambdaboost-yetirank", "report.md and the finished trainings, which are not repeated")
    return made


if __name__ == "__main__":
    run(main)
