"""`reproduce_svore2011`: everything from the data to the report, in one folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

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
STOPPED = 130  # exit code


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
        with _Told(total) as told, Pool(data, setting, store, request.workers) as pool:
            results = run_protocol(pool, request.grid, told.advance)
    except KeyboardInterrupt:
        note(f"stopped, finished runs are kept in {store.folder}: the same command goes on from there")
        raise SystemExit(STOPPED) from None
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


class _Told:
    """How far the runs are: a live bar on a terminal, elsewhere a line each tenth of the way."""

    def __init__(self, total: int) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns, console=ERR, disable=not ERR.is_terminal)
        self.task = self.bar.add_task("runs", total=total)
        self.total, self.done, self.started = total, 0, perf_counter()

    def __enter__(self) -> _Told:
        self.bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.stop()

    def advance(self) -> None:
        """A run is done."""
        self.bar.advance(self.task)
        self.done += 1
        tenth = self.done * 10 // self.total > (self.done - 1) * 10 // self.total
        if self.bar.disable and tenth:
            note(f"{self.done} of {self.total} runs after {(perf_counter() - self.started) / 60:.1f} minutes")
