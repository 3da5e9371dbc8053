"""Repeat the experiments of Svore, Volkovs and Burges (2011): `python -m experiments.svore2011 --help`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.common.clicks import Clicks
from experiments.common.data import Data, read_folder, synthetic
from experiments.common.script import (
    PROCESSORS,
    SYNTHETIC,
    DataOption,
    Out,
    Quick,
    Seed,
    Workers,
    out_folder,
    run,
    whole,
)
from experiments.svore2011.protocol import Results, run_protocol
from experiments.svore2011.report import write_report
from experiments.svore2011.settings import EVERY, QUICK, Grid, Setting

SMALL = 20_000  # documents
CLICKS = (
    "a column, from 1, to use as click labels and not as a feature, as NAME=COLUMN or NAME=COLUMN:SCALE; each is a "
    "click setting of Table 1. SCALE: rate for counts (log1p over the query's largest; default) or unit (already in "
    "[0, 1])"
)


def main(
    data: DataOption = SYNTHETIC,
    out: Out = None,
    quick: Quick = False,
    seed: Seed = 0,
    clicks: Annotated[list[str] | None, typer.Option(help=CLICKS)] = None,
    drop: Annotated[list[int] | None, typer.Option(min=1, help="a column, from 1, to leave out")] = None,
    rounds: Annotated[int | None, whole("boosting rounds (default: 300, 100 with --quick)")] = None,
    num_leaves: Annotated[
        int | None, whole("leaves of a tree (default: 30, 10 below 20,000 documents)", least=2)
    ] = None,
    queries: Annotated[int, whole("queries of synthetic data", least=5)] = 4000,
    documents: Annotated[int, whole("documents a query of synthetic data", least=2)] = 50,
    workers: Workers = PROCESSORS,
) -> Results:
    """Tables 1 and 2 and Figures 2-7 of Svore, Volkovs and Burges (2011).

    Sweeps, selects on validation data, tests the systems of the paper, and writes report.md. Without --clicks, data
    from files give Table 2 only. Synthetic data are a search log with two click settings.
    """
    settings, dropped = [Clicks.parse(text) for text in clicks or ()], drop or []
    if data != SYNTHETIC:
        read = read_folder(Path(data), settings, dropped, seed)
    elif settings or dropped:
        raise ValueError("--clicks and --drop name columns of files: synthetic data brings its own clicks")
    else:
        read = synthetic(queries, documents, seed)
    rounds = rounds or (100 if quick else 300)
    setting = Setting(rounds, min(EVERY, rounds), num_leaves or default_leaves(read), seed)
    folder = out_folder("svore2011", data, out, quick)
    results = run_protocol(read, setting, QUICK if quick else Grid(), workers)
    write_report(results, folder)
    return results


def default_leaves(data: Data) -> int:
    """The paper's 30 leaves, or 10 if a fold trains on fewer than 20,000 documents."""
    documents = max(data.training(fold).queries.n_documents for fold in data.folds)
    return 30 if documents >= SMALL else 10


if __name__ == "__main__":
    run(main)
