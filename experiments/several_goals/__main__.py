"""Several goals at once: `python -m experiments.several_goals --help`."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from experiments.common.script import at_least, note, run
from experiments.common.workers import Workers
from experiments.several_goals.keeping import SPLITS
from experiments.several_goals.proof import write_proof
from experiments.several_goals.report import write_report
from experiments.several_goals.results import Results
from experiments.several_goals.sets import Goals, known
from experiments.several_goals.study import MO_LIGHTGBM, PARTS, SEQUENCE, Study, Task
from experiments.several_goals.training import ROUNDS

SEEDS = 3


def main(arguments: Sequence[str] | None = None) -> Results:
    """Train every system on every data set, and write report.md with its pictures."""
    options = _parser().parse_args(arguments)
    sets = _chosen(options)
    parts = [part for part in options.parts if part != MO_LIGHTGBM or options.mo_lightgbm is not None]
    if len(parts) < len(options.parts):
        note("MO-LightGBM is left out: give its executable as --mo-lightgbm PATH")
    options.out.mkdir(parents=True, exist_ok=True)
    scale, rounds, seeds = (0.02, 5, 1) if options.quick else (1.0, ROUNDS, SEEDS)
    tasks = {task.key: task for goals in sets.values() for task in tasks_of(goals, parts, seeds)}
    if SEQUENCE in parts:
        tasks |= {task.key: task for task in splits_of(sets.values(), 1 if options.quick else SPLITS)}
    note(f"{len(tasks)} runs; finished ones are kept in {options.out / 'runs'}")
    # Nothing of this module: a worker process cannot import it by its name.
    start = partial(Study, options.data, scale, rounds, options.mo_lightgbm)
    with Workers(options.out / "runs", options.workers, start) as pool:
        found = pool.run(tasks, lambda: None)
    outcomes = {task: found[key] for key, task in tasks.items()}
    sequences = Results(sets, {task: of for task, of in outcomes.items() if task.systems == SEQUENCE})
    results = Results(sets, {task: of for task, of in outcomes.items() if task.systems != SEQUENCE})
    if set(parts) >= set(PARTS) - {MO_LIGHTGBM, SEQUENCE}:
        write_report(results, options.out)
        note(f"written: {options.out / 'report.md'}")
    if SEQUENCE in parts:
        write_proof({name: sequences.of(name) for name in sets}, options.out / SEQUENCE)
        note(f"written: {options.out / SEQUENCE / 'report.md'}")
    return results


def tasks_of(goals: Goals, parts: Sequence[str], seeds: int) -> list[Task]:
    """The runs of a data set; MO-LightGBM, which takes minutes, has one seed."""
    return [
        Task(goals.name, seed, fold, part)
        for part in parts
        if part != SEQUENCE
        for seed in range(1 if part == MO_LIGHTGBM else seeds)
        for fold in range(goals.folds)
    ]


def splits_of(sets: Iterable[Goals], splits: int) -> list[Task]:
    """The runs of the sequence, split by split, so that an end before time leaves equally many of each data set."""
    return [
        Task(goals.name, split // goals.folds, split % goals.folds, SEQUENCE)
        for split in range(splits)
        for goals in sets
    ]


def _chosen(options: Namespace) -> dict[str, Goals]:
    there = known(options.data, 0.02 if options.quick else 1.0)
    for name in options.sets or ():
        if name not in there:
            raise ValueError(
                f"--sets {name!r}: expected one of {', '.join(map(repr, there))}; others need DATA"
            )
    return {name: goals for name, goals in there.items() if not options.sets or name in options.sets}


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise ArgumentTypeError(f"is {text}: give the folder that holds mslr_web30k_sample, clueweb09, …")
    return Path(text)


def _file(text: str) -> Path:
    if not os.access(text, os.X_OK) or Path(text).is_dir():
        raise ArgumentTypeError(f"is {text}: give the path of MO-LightGBM's executable, LightGBM/lightgbm")
    return Path(text).resolve()


def _parser() -> ArgumentParser:
    made = ArgumentParser(
        "python -m experiments.several_goals", description="Several goals at once, and their front."
    )
    made.add_argument(
        "data",
        nargs="?",
        type=_folder,
        metavar="DATA",
        help="the folder of the real data sets (default: none of them)",
    )
    made.add_argument(
        "--sets", nargs="+", metavar="NAME", help="only these data sets (default: all that are there)"
    )
    made.add_argument("--mo-lightgbm", type=_file, metavar="PATH", help="MO-LightGBM's executable")
    made.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="only these systems, without a report"
    )
    made.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "all", metavar="DIR")
    made.add_argument("--quick", action="store_true", help="a small test run; not for publication")
    made.add_argument("--workers", type=at_least(1), default=os.cpu_count() or 1, help="runs at a time")
    return made


if __name__ == "__main__":
    run(main)
