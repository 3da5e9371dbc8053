"""Command line: `python -m benchmarks.portfolio --help`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.portfolio.flaml import Flaml, Searches
from benchmarks.portfolio.matrix import Matrix
from benchmarks.portfolio.report import of_rivals, write_report
from benchmarks.portfolio.rivals import Rivals, trials
from benchmarks.portfolio.sets import SETS, family
from benchmarks.portfolio.settings import settings
from benchmarks.portfolio.study import Run, Study
from benchmarks.portfolio.trials import Trials
from experiments.common.script import add_out, at_least, note, run
from experiments.common.workers import Outcome, Workers

SHARED = 4  # seconds that FLAML's clock gets for a processor second of tune, on a machine that others use


def main(arguments: Sequence[str] | None = None) -> Matrix:
    """Run the matrix, tune and its rivals where they are asked for, and write report.md."""
    options = _parser().parse_args(arguments)
    if len({family(name) for name in options.sets}) < 2:
        raise ValueError("--sets has no set outside that which is left out: give two or more, logs being one")
    options.out.mkdir(parents=True, exist_ok=True)
    tasks = [Run(*fold, setting) for fold in folds(options.sets, options.folds) for setting in settings()]
    matrix = Matrix(outcomes(tasks, options, "matrix", Study))
    further = [of_rivals(rivals(matrix, options))] if options.tune else []
    write_report(matrix, options.out, _command(options), *further)
    note(f"written: {options.out / 'report.md'}")
    return matrix


def folds(sets: Sequence[str], most: int) -> list[tuple[str, int]]:
    """The folds, the first of all sets first."""
    return [(name, fold) for fold in range(most) for name in sets if fold < SETS[name]]


def rivals(matrix: Matrix, options: argparse.Namespace) -> Rivals:
    """`tune` and its rivals on the folds that are asked for."""
    names = options.tune_sets or options.sets
    asked = [(name, fold) for fold in range(options.tune) for name in names]  # logs of any fold can be drawn
    tasks = [trial for fold in asked for trial in trials(matrix, *fold)]
    found = Rivals(matrix, outcomes(tasks, options, "trials", Trials), {})
    if options.flaml is None:
        return found
    searches = [Flaml(name, fold, SHARED * found.seconds(name)) for name, fold in asked]
    return Rivals(matrix, found.found, outcomes(searches, options, "flaml", lambda: Searches(options.flaml)))


def outcomes(
    tasks: Sequence[Any], options: argparse.Namespace, name: str, start: Callable[[], Any]
) -> dict[Any, Outcome]:
    """What the tasks gave; finished ones are kept in a folder of this name and not repeated."""
    keys, done = {task.key: task for task in tasks}, 0

    def count() -> None:
        nonlocal done
        done += 1
        if done % max(1, len(keys) // 100) == 0:
            note(f"{name}: {done} of {len(keys)}")

    with Workers(options.out / name, 1, start) as pool:
        found = pool.run(keys, count)
    return {task: found[key] for key, task in keys.items()}


def _command(options: argparse.Namespace) -> str:
    words = ["python", "-m", "benchmarks.portfolio"]
    words += [] if options.sets == list(SETS) else ["--sets", *options.sets]
    words += ["--folds", str(options.folds)] + (["--tune", str(options.tune)] if options.tune else [])
    words += ["--tune-sets", *options.tune_sets] if options.tune_sets else []
    return shlex.join(words + (["--flaml", "PYTHON"] if options.flaml else []))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("python -m benchmarks.portfolio", description="The portfolio of tune.")
    sets = {"nargs": "+", "choices": list(SETS), "metavar": "SET"}
    made.add_argument("--sets", **sets, default=list(SETS), help="(default: all)")
    made.add_argument("--folds", type=at_least(1), default=5, help="the most folds of a set (default: 5)")
    made.add_argument(
        "--tune", type=at_least(1), metavar="FOLDS", help="compare tune with fixed objectives on these folds"
    )
    made.add_argument("--tune-sets", **sets, help="the sets of --tune (default: those of --sets)")
    made.add_argument(
        "--flaml",
        type=Path,
        metavar="PYTHON",
        help="an interpreter that has flaml[automl], as a rival of tune",
    )
    add_out(made, "lambdaboost-portfolio", "report.md and finished runs, which are not repeated")
    return made


if __name__ == "__main__":
    run(main)
