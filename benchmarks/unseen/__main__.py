"""Command line: `python -m benchmarks.unseen --help`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.unseen.flaml import Flaml, Searches
from benchmarks.unseen.report import Found, write_report
from benchmarks.unseen.sets import LOG, READERS, split_of
from benchmarks.unseen.study import Run, Study
from experiments.common.script import add_out, at_least, note, run
from experiments.common.workers import Workers

CLOCK = 3  # seconds of FLAML's clock for a processor second of all rows, on a machine that others use


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all rows on all sets, the first seed of all sets first, and write report.md."""
    options = _parser().parse_args(arguments)
    tasks = [Run(name, seed) for seed in range(options.seeds) for name in options.sets]
    runs = {task.key: task for task in (*tasks, *(Run(LOG, seed) for seed in range(options.logs)))}
    with Workers(options.out / "runs", 1, partial(Study, options.folder)) as pool:
        kept = pool.run(runs, lambda: note("a set and seed done"))
    found = {task: kept[key] for key, task in runs.items()}
    flaml = _flaml(found, options) if options.flaml else {}
    write_report(found, flaml, options.out, _command(options))
    note(f"written: {options.out / 'report.md'}")


def _flaml(found: Found, options: argparse.Namespace) -> Found:
    """FLAML's searches of the first seeds."""
    searches = {
        run: Flaml(run.data, run.seed, CLOCK * float(outcome["seconds"]))
        for run, outcome in found.items()
        if run.seed < options.flaml_seeds and run.data != LOG
    }
    start = partial(Searches, options.flaml, partial(split_of, options.folder))
    with Workers(options.out / "runs", 1, start) as pool:
        kept = pool.run(
            {search.key: search for search in searches.values()}, lambda: note("a search of FLAML done")
        )
    return {run: kept[search.key] for run, search in searches.items()}


def _command(options: argparse.Namespace) -> str:
    words = ["python", "-m", "benchmarks.unseen", "FOLDER", "--seeds", str(options.seeds)]
    words += [] if options.sets == list(READERS) else ["--sets", *options.sets]
    words += ["--logs", str(options.logs)] if options.logs else []
    words += ["--flaml", "PYTHON", "--flaml-seeds", str(options.flaml_seeds)] if options.flaml else []
    return shlex.join(words)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks.unseen", description="tune on data it has never seen."
    )
    made.add_argument(
        "folder", type=Path, metavar="FOLDER", help="has a folder of each set, as sets.py names them"
    )
    sets = {"nargs": "+", "choices": list(READERS), "metavar": "SET"}
    made.add_argument("--sets", **sets, default=list(READERS), help=f"of {', '.join(READERS)} (default: all)")
    made.add_argument("--seeds", type=at_least(1), default=5, help="number of seeds (default: 5)")
    logs = f"number of seeds of a synthetic {LOG} queries (default: 0)"
    made.add_argument("--logs", type=at_least(0), default=0, metavar="SEEDS", help=logs)
    flaml = "an interpreter that has flaml[automl], as a rival of tune"
    made.add_argument("--flaml", type=Path, metavar="PYTHON", help=flaml)
    made.add_argument("--flaml-seeds", type=at_least(1), default=1, help="number of its seeds (default: 1)")
    add_out(made, "lambdaboost-unseen", "report.md and finished runs, which are not repeated")
    return made


if __name__ == "__main__":
    run(main)
