"""Clicks with position bias: `python -m experiments.clicks --help`."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from experiments.clicks.folds import FOLDS
from experiments.clicks.logs import USERS
from experiments.clicks.report import write_report
from experiments.clicks.results import Results
from experiments.clicks.study import QUICK, Effort, Study, Task
from experiments.common.data import Data, one_fold
from experiments.common.folders import read_folder
from experiments.common.script import at_least, note, out_folder, parser, run
from experiments.common.workers import Outcome, Workers
from lambdaboost.datasets import web_search_log

QUICK_USERS = ("position, η = 0", "position, η = 1")


def main(arguments: Sequence[str] | None = None) -> Results:
    """Simulate users, train on their clicks, test on the grades, and write report.md."""
    options = _parser().parse_args(arguments)
    names = [options.data, *options.more]
    data = {d.name: d for name in names for d in [_read(name, options)]}
    users = QUICK_USERS if options.quick else tuple(USERS)
    folds, effort = (1, QUICK) if options.quick else (FOLDS, Effort())
    out = out_folder(options)
    note(f"{len(data) * len(users) * folds} runs; finished ones are kept in {out / 'runs'}")
    outcomes: dict[tuple[str, str, int], Outcome] = {}
    for name, one in data.items():
        tasks = {
            f"{one.digest[:8]}-{options.seed}-{fold}-{_file_name(kind)}": Task(fold, kind)
            for kind in users
            for fold in range(folds)
        }
        with Workers(out / "runs", options.workers, partial(Study, one, effort, options.seed)) as pool:
            found = pool.run(tasks, lambda: None)
        outcomes |= {(name, task.users, task.fold): found[key] for key, task in tasks.items()}
        note(f"{name}: done")
    results = Results(outcomes)
    write_report(results, effort, [f"### {name}\n\n{one.markdown()}" for name, one in data.items()], out)
    note(f"written: {out / 'report.md'}")
    return results


def _read(name: str, options: Namespace) -> Data:
    if name != "synthetic":
        return read_folder(Path(name), seed=options.seed)
    queries = options.queries
    origin = f"lambdaboost.datasets.web_search_log({queries}, 30, seed={options.seed})"
    return one_fold(web_search_log(queries, 30, seed=options.seed), (0.4, 0.2, 0.4), options.seed, origin)


def _file_name(users: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "" for letter in users)


def _parser() -> ArgumentParser:
    made = parser("clicks", "Rankers trained on simulated clicks, tested on hidden grades.", "a search log")
    made.add_argument("more", nargs="*", metavar="DATA", help="further data sets, pooled with the first")
    made.add_argument(
        "--queries", type=at_least(20), default=1000, help="queries of synthetic data (default: 1000)"
    )
    made.add_argument(
        "--workers", type=at_least(1), default=os.cpu_count() or 1, help="runs at a time (default: all cores)"
    )
    return made


if __name__ == "__main__":
    run(main)
