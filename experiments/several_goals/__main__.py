"""Several goals at once: `python -m experiments.several_goals --help`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

from experiments.common.script import add_workers, note, run
from experiments.common.workers import run_tasks
from experiments.several_goals.report import write_report
from experiments.several_goals.results import OfSet
from experiments.several_goals.sets import known
from experiments.several_goals.training import PARTS, ROUNDS, Task, train_systems

SEEDS = 3


def main(arguments: Sequence[str] | None = None) -> dict[str, OfSet]:
    """Train every system on every data set, and write report.md."""
    options = _parser().parse_args(arguments)
    scale, rounds, seeds = (0.02, 5, 1) if options.quick else (1.0, ROUNDS, SEEDS)
    sets = known(options.data, scale)
    for name in options.sets or ():
        if name not in sets:
            raise ValueError(
                f"--sets {name!r}: expected one of {', '.join(map(repr, sets))}; others need DATA"
            )
    sets = {name: sets[name] for name in options.sets or sets}
    options.out.mkdir(parents=True, exist_ok=True)
    tasks = [
        Task(name, seed, fold, part)
        for name, goals in sets.items()
        for seed, fold, part in product(range(seeds), range(goals.folds), PARTS)
    ]
    note(f"{len(tasks)} runs")
    outcomes = run_tasks(partial(train_systems, options.data, scale, rounds), tasks, options.workers)
    found = {name: OfSet(goals) for name, goals in sets.items()}
    for task, outcome in zip(tasks, outcomes, strict=True):
        found[task.data_set].add(task, outcome)
    write_report(found, options.out)
    return found


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise ArgumentTypeError(f"is {text}: give the folder that holds mslr_web30k_sample, clueweb09, …")
    return Path(text)


def _parser() -> ArgumentParser:
    made = ArgumentParser(
        "python -m experiments.several_goals", description="Several goals at once, and their front."
    )
    made.add_argument(
        "data",
        nargs="?",
        type=_folder,
        metavar="DATA",
        help="the folder of the real data sets (default: none)",
    )
    made.add_argument("--sets", nargs="+", metavar="NAME", help="only these data sets (default: all)")
    made.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "new", metavar="DIR")
    made.add_argument("--quick", action="store_true", help="a small test run; not for publication")
    add_workers(made)
    return made


if __name__ == "__main__":
    run(main)
