"""Command line: `python -m benchmarks.unseen --help`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.provenance import digest
from benchmarks.unseen.kept import load, run_or_load
from benchmarks.unseen.report import SOURCES, write_report
from benchmarks.unseen.sets import READERS
from benchmarks.unseen.study import Run, Study
from experiments.common.script import at_least, note, run


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all rows on all sets, the first seed of all sets first, and write report.md."""
    made = argparse.ArgumentParser("python -m benchmarks.unseen", description="tune on unseen data.")
    made.add_argument("folder", type=Path, help="has a folder of each set, as sets.py names them")
    every = list(READERS)
    said = f"of {', '.join(every)} (default: all)"
    made.add_argument("--sets", nargs="+", choices=every, metavar="SET", default=every, help=said)
    made.add_argument("--seeds", type=at_least(1), default=5, help="number of seeds (default: 5)")
    made.add_argument("--minutes", type=float, default=600, help="start no run later (default: 600)")
    made.add_argument("--before", type=Path, metavar="RUNS", help="the folder of an earlier version's runs")
    made.add_argument(
        "--out",
        type=Path,
        default=Path("lambdaboost-unseen"),
        metavar="DIR",
        help="report.md and, by the digest of the code, runs that are not repeated (default: lambdaboost-unseen)",
    )
    options = made.parse_args(arguments)
    runs = [Run(name, seed) for seed in range(options.seeds) for name in options.sets]
    folder = options.out / "runs" / digest(SOURCES)
    folder.mkdir(parents=True, exist_ok=True)
    found, study, end = {}, Study(options.folder), time.time() + 60 * options.minutes
    for one in runs:
        kept = folder / f"{one.key}.npz"
        if kept.exists() or time.time() < end:
            found[one] = run_or_load(study, one, kept)
            note(f"{one.key}: done")
    for one, outcome in found.items():
        before = load(options.before / f"{one.key}.npz") if options.before else {}
        kept = {name: value for name, value in (before or {}).items() if "tune" in name or name == "seconds"}
        outcome |= {f"before: {name}": value for name, value in kept.items()}
    write_report(found, options.out)


if __name__ == "__main__":
    run(main)
