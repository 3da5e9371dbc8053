"""`reproduce_svore2011`: everything from the data to the report, in one folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lambdaboost.cli.console import ERR, note
from lambdaboost.reproduce.data import Data
from lambdaboost.reproduce.pool import Pool
from lambdaboost.reproduce.protocol import Results, n_runs, run_protocol
from lambdaboost.reproduce.store import Store
from lambdaboost.reproduce.systems import Grid, swept_systems
from lambdaboost.reproduce.trial import Setting

SMALL = 20_000  # documents


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    engine: str
    grid: Grid
    rounds: int
    every: int
    num_leaves: int | None
    workers: int
    seed: int
    out: Path


def reproduce_svore2011(data: Data, request: Request) -> Results:
    """Run the paper's protocol on `data` and write report, tables, figures and all figures per query."""
    from lambdaboost.reproduce.report import write_report

    setting = Setting(
        request.engine,
        request.rounds,
        min(request.every, request.rounds),
        request.num_leaves or default_leaves(data),
        request.seed,
        data.digest,
    )
    store = Store(writable(request.out / "runs"))
    systems = swept_systems(request.grid, request.engine, [clicks.name for clicks in data.clicks])
    total = n_runs(systems, request.grid, data, request.engine)
    note(
        f"{data.name}: at most {total} runs of {setting.rounds} rounds; finished ones are kept in {store.folder}"
    )
    try:
        with _progress() as bar, Pool(data, setting, store, request.workers) as pool:
            task = bar.add_task("runs", total=total)
            results = run_protocol(pool, request.grid, lambda: bar.advance(task))
            bar.update(task, total=bar.tasks[0].completed)
    except KeyboardInterrupt:
        note("stopped: the same command goes on from the runs that are finished")
        raise
    write_report(results, request.out)
    note(f"written: {request.out / 'report.md'}")
    return results


def default_leaves(data: Data) -> int:
    """The paper's 30 leaves, or 10 where a fold trains on fewer than 20,000 documents."""
    documents = max(data.training(fold).queries.n_documents for fold in data.folds)
    return 30 if documents >= SMALL else 10


def writable(folder: Path) -> Path:
    """The folder, made if need be; an OSError where it cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", str(folder))
    return folder


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=ERR, disable=not ERR.is_terminal)
