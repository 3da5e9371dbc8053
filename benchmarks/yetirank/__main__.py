"""Command line: `python -m benchmarks.yetirank --help`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import benchmarks.yetirank as protocol
from benchmarks.yetirank.arms import TREES, Arm, arms
from benchmarks.yetirank.tables import (
    Results,
    best_beside_yetirank,
    of_catboost,
    of_engine,
    of_objectives,
    of_trees,
)
from benchmarks.yetirank.training import CUTOFFS, RATES, SEEDS, Log, Task
from experiments.common.report import versions
from experiments.common.script import at_least, note, run
from experiments.common.workers import Outcome, Workers


def main(arguments: Sequence[str] | None = None) -> Results:
    """Train what is missing, print the tables and write them."""
    options = _parser().parse_args(arguments)
    found = arms()
    tasks = [
        Task(arm, seed, rate) for seed in range(options.seeds) for arm in found.values() for rate in RATES
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if done % 50 == 0:
            note(f"{done} of {len(tasks)}")

    with Workers(options.out / "runs", options.workers, Log) as pool:
        outcomes = pool.run({task.key: task for task in tasks}, count)

    def chosen(arm: Arm, seed: int) -> Outcome:
        return max((outcomes[Task(arm, seed, rate).key] for rate in RATES), key=lambda o: float(o["valid"]))

    picked = {name: [chosen(arm, seed) for seed in range(options.seeds)] for name, arm in found.items()}
    results = Results(
        {k: {name: np.array([o[f"NDCG@{k}"] for o in of]) for name, of in picked.items()} for k in CUTOFFS}
    )
    parts = [of_catboost(results), best_beside_yetirank(results)] if find_spec("catboost") else []
    for engine in TREES:
        parts += [of_engine(results, engine), of_trees(results, engine), of_objectives(results, engine)]
    packages = ["lightgbm", "xgboost", *(["catboost"] if find_spec("catboost") else [])]
    head = f"`python -m benchmarks.yetirank --seeds {options.seeds}`. {versions(*packages)}."
    text = "\n\n".join(["# CatBoost's YetiRank, taken apart", head, (protocol.__doc__ or "").strip(), *parts])
    (options.out / "report.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return results


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks.yetirank", description="CatBoost's YetiRank, one change at a time."
    )
    made.add_argument(
        "--seeds", type=int, choices=range(1, SEEDS + 1), default=SEEDS, help=f"(default: {SEEDS})"
    )
    made.add_argument("--workers", type=at_least(1), default=1, help="trainings at a time (default: 1)")
    made.add_argument(
        "--out",
        type=Path,
        default=Path("lambdaboost-yetirank"),
        metavar="DIR",
        help="report.md and the finished trainings, which are not repeated (default: lambdaboost-yetirank)",
    )
    return made


if __name__ == "__main__":
    run(main)
