"""Repeat the experiments of Svore, Volkovs and Burges (2011): `python -m experiments.svore2011 --help`."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

from experiments.common.clicks import Clicks
from experiments.common.data import Data
from experiments.common.folders import read_folder
from experiments.common.script import at_least, note, out_folder, parser, run
from experiments.common.synthetic import synthetic
from experiments.common.workers import Workers
from experiments.svore2011.protocol import Results, n_runs, run_protocol
from experiments.svore2011.report import write_report
from experiments.svore2011.settings import EVERY, QUICK, Grid, Setting, systems
from experiments.svore2011.training import Trainer

SMALL = 20_000  # documents


def main(arguments: Sequence[str] | None = None) -> Results:
    """Sweep, select on validation data, test the systems of the paper, and write report.md.

    Finished runs are kept in the folder's runs/: the same command resumes after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    clicks = [Clicks.parse(text) for text in options.clicks]
    dropped = _columns(options.drop)
    if options.data != "synthetic":
        data = read_folder(Path(options.data), clicks, dropped, options.seed)
    elif clicks or dropped:
        raise ValueError("--clicks and --drop name columns of files: synthetic data brings its own clicks")
    else:
        data = synthetic(options.queries, options.documents, options.seed)
    rounds = options.rounds or (100 if options.quick else 300)
    leaves = options.num_leaves or default_leaves(data)
    setting = Setting(options.engine, rounds, min(EVERY, rounds), leaves, options.seed, data.digest)
    out = out_folder(options)
    grid = QUICK if options.quick else Grid()
    results = reproduce(data, setting, grid, options.workers, out)
    note(f"written: {out / 'report.md'}")
    return results


def reproduce(data: Data, setting: Setting, grid: Grid, workers: int, out: Path) -> Results:
    """Run the protocol and write the report into a folder."""
    total = n_runs(systems(grid, setting.engine, [c.name for c in data.clicks]), grid, data)
    note(
        f"{data.name}: at most {total} runs of {setting.rounds} rounds; finished ones are kept in {out / 'runs'}"
    )
    with Workers(out / "runs", workers, partial(Trainer, data, setting)) as pool:
        results = run_protocol(data, setting, grid, pool, _Progress(total))
    write_report(results, out)
    return results


def default_leaves(data: Data) -> int:
    """The paper's 30 leaves, or 10 if a fold trains on fewer than 20,000 documents."""
    documents = max(data.training(fold).queries.n_documents for fold in data.folds)
    return 30 if documents >= SMALL else 10


class _Progress:
    """Prints a line after each tenth of the runs."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.started = total, 0, perf_counter()

    def __call__(self) -> None:
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            minutes = (perf_counter() - self.started) / 60
            note(f"{self.done} of {self.total} runs after {minutes:.1f} minutes")


def _parser() -> ArgumentParser:
    made = parser(
        "svore2011",
        "Tables 1 and 2 and Figures 2-7 of Svore, Volkovs and Burges (2011). Finished runs are kept: the same command "
        "resumes after Ctrl-C. Without --clicks, data from files give Table 2 only.",
        "a search log with two click settings",
    )
    made.add_argument(
        "--engine", choices=["lightgbm", "xgboost"], default="lightgbm", help="(default: lightgbm)"
    )
    made.add_argument(
        "--clicks",
        action="append",
        default=[],
        metavar="NAME=COLUMN[:SCALE]",
        help="a column, from 1, to use as click labels and not as a feature. May be repeated: each is a click "
        "setting of Table 1. SCALE: rate for counts (log1p over the query's largest; default), max (over the query's "
        "largest), percent (over 100), unit (already in [0, 1])",
    )
    made.add_argument(
        "--drop", action="append", default=[], metavar="COLUMNS", help="columns to leave out, such as 135,136"
    )
    made.add_argument("--rounds", type=at_least(1), help="boosting rounds (default: 300, 100 with --quick)")
    made.add_argument(
        "--num-leaves", type=at_least(2), help="leaves of a tree (default: 30, 10 below 20,000 documents)"
    )
    made.add_argument(
        "--queries", type=at_least(5), default=4000, help="queries of synthetic data (default: 4000)"
    )
    made.add_argument(
        "--documents", type=at_least(2), default=50, help="documents a query of synthetic data (default: 50)"
    )
    made.add_argument(
        "--workers", type=at_least(1), default=os.cpu_count() or 1, help="runs at a time (default: all cores)"
    )
    return made


def _columns(texts: Sequence[str]) -> list[int]:
    words = [word.strip() for text in texts for word in text.split(",")]
    for word in words:
        if not word.isdecimal():
            raise ValueError(
                f"--drop {word!r}: expected column numbers counted from 1, such as 135 or 135,136"
            )
    return sorted(set(map(int, words)))


if __name__ == "__main__":
    run(main)
