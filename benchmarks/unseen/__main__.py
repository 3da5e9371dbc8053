"""Command line: `python -m benchmarks.unseen --help`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.unseen.report import write_report
from benchmarks.unseen.sets import READERS, SETS
from benchmarks.unseen.study import Run, Study
from experiments.common.script import add_out, at_least, note, run
from experiments.common.workers import Workers


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all rows on all sets, the first seed of all sets first, and write report.md."""
    options = _parser().parse_args(arguments)
    runs = {
        task.key: task for seed in range(options.seeds) for task in (Run(name, seed) for name in options.sets)
    }
    with Workers(options.out / "runs", 1, partial(Study, options.folder)) as pool:
        kept = pool.run(runs, lambda: note("a set and seed done"))
    write_report({task: kept[key] for key, task in runs.items()}, options.out, _command(options))
    note(f"written: {options.out / 'report.md'}")


def _command(options: argparse.Namespace) -> str:
    words = ["python", "-m", "benchmarks.unseen", "FOLDER", "--seeds", str(options.seeds)]
    return shlex.join(words + ([] if options.sets == list(READERS) else ["--sets", *options.sets]))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks.unseen", description="tune on data it has never seen."
    )
    made.add_argument(
        "folder", type=Path, metavar="FOLDER", help="has a folder of each set, as sets.py names them"
    )
    sets = {"nargs": "+", "choices": SETS, "metavar": "SET"}
    made.add_argument(
        "--sets", **sets, default=list(READERS), help=f"of {', '.join(SETS)} (default: without the logs)"
    )
    made.add_argument("--seeds", type=at_least(1), default=5, help="number of seeds (default: 5)")
    add_out(made, "lambdaboost-unseen", "report.md and finished runs, which are not repeated")
    return made


if __name__ == "__main__":
    run(main)
