"""Repeat the experiments of Svore, Volkovs and Burges (2011): `python -m experiments.svore2011 --help`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from experiments.common.clicks import Clicks
from experiments.common.data import Data, read_folder, synthetic
from experiments.common.script import add_number, add_workers, out_folder, parser, run
from experiments.svore2011.protocol import Results, run_protocol
from experiments.svore2011.report import write_report
from experiments.svore2011.settings import EVERY, QUICK, Grid, Setting

SMALL = 20_000  # documents


def main(arguments: Sequence[str] | None = None) -> Results:
    """Sweep, select on validation data, test the systems of the paper, and write report.md."""
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
    setting = Setting(rounds, min(EVERY, rounds), leaves, options.seed)
    out = out_folder(options)
    results = run_protocol(data, setting, QUICK if options.quick else Grid(), options.workers)
    write_report(results, out)
    return results


def default_leaves(data: Data) -> int:
    """The paper's 30 leaves, or 10 if a fold trains on fewer than 20,000 documents."""
    documents = max(data.training(fold).queries.n_documents for fold in data.folds)
    return 30 if documents >= SMALL else 10


def _parser() -> ArgumentParser:
    made = parser(
        "svore2011",
        "Tables 1 and 2 and Figures 2-7 of Svore, Volkovs and Burges (2011). Without --clicks, data from files "
        "give Table 2 only.",
        "a search log with two click settings",
    )
    made.add_argument(
        "--clicks",
        action="append",
        default=[],
        metavar="NAME=COLUMN[:SCALE]",
        help="a column, from 1, to use as click labels and not as a feature. May be repeated: each is a click "
        "setting of Table 1. SCALE: rate for counts (log1p over the query's largest; default), percent (over 100), "
        "unit (already in [0, 1])",
    )
    made.add_argument(
        "--drop", action="append", default=[], metavar="COLUMNS", help="columns to leave out, such as 135,136"
    )
    add_number(made, "rounds", "boosting rounds (default: 300, 100 with --quick)", None, least=1)
    add_number(made, "num-leaves", "leaves of a tree (default: 30, 10 below 20,000 documents)", None, least=2)
    add_number(made, "queries", "queries of synthetic data", 4000, least=5)
    add_number(made, "documents", "documents a query of synthetic data", 50, least=2)
    add_workers(made)
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
