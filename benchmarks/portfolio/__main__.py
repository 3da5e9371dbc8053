"""Command line: `python -m benchmarks.portfolio --help`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from benchmarks.portfolio.matrix import Matrix
from benchmarks.portfolio.report import write_report
from benchmarks.portfolio.sets import SETS
from benchmarks.portfolio.settings import settings
from benchmarks.portfolio.study import Run, Study
from experiments.common.script import at_least, note, run
from experiments.common.workers import Outcome, Workers


def main(arguments: Sequence[str] | None = None) -> Matrix:
    """Run the matrix and write report.md."""
    options = _parser().parse_args(arguments)
    tasks = runs(options.sets, options.folds)
    options.out.mkdir(parents=True, exist_ok=True)
    matrix = Matrix(outcomes(tasks, options.out / "matrix", options.workers))
    names = [] if options.sets == list(SETS) else ["--sets", *options.sets]
    words = ["python", "-m", "benchmarks.portfolio", *names, "--folds", str(options.folds)]
    write_report(matrix, options.out, shlex.join(words))
    note(f"written: {options.out / 'report.md'}")
    return matrix


def runs(sets: Sequence[str], folds: int) -> list[Run]:
    """All runs, the first folds of all sets first."""
    pairs = [(fold, name) for fold in range(folds) for name in sets if fold < SETS[name]]
    return [Run(name, fold, setting) for fold, name in pairs for setting in settings()]


def outcomes(tasks: Sequence[Run], folder: Path, workers: int) -> dict[Run, Outcome]:
    """What the runs gave; finished ones are kept in a folder and not repeated."""
    keys, done = {task.key: task for task in tasks}, 0

    def count() -> None:
        nonlocal done
        done += 1
        if done % max(1, len(keys) // 100) == 0:
            note(f"{done} of {len(keys)}")

    with Workers(folder, workers, Study) as pool:
        found = pool.run(keys, count)
    return {task: found[key] for key, task in keys.items()}


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("python -m benchmarks.portfolio", description="The portfolio of tune.")
    made.add_argument(
        "--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET", help="(default: all)"
    )
    made.add_argument("--folds", type=at_least(1), default=5, help="the most folds of a set (default: 5)")
    made.add_argument("--workers", type=at_least(1), default=1, help="runs at a time (default: 1)")
    made.add_argument(
        "--out",
        type=Path,
        default=Path("lambdaboost-portfolio"),
        metavar="DIR",
        help="report.md and finished runs, which are not repeated (default: lambdaboost-portfolio)",
    )
    return made


if __name__ == "__main__":
    run(main)
