"""Command line: `python -m benchmarks.unseen --help`."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.provenance import digest
from benchmarks.unseen.report import SOURCES, write_report
from benchmarks.unseen.sets import READERS
from benchmarks.unseen.study import Outcome, Run, outcome_of
from experiments.common.script import note, run, whole

Name = StrEnum("Name", list(READERS))  # type: ignore[misc]


def main(
    folder: Annotated[Path, typer.Argument(help="has a folder of each set, as sets.py names them")],
    sets: Annotated[list[Name] | None, typer.Option(help="may be repeated (default: all)")] = None,
    seeds: Annotated[int, whole("number of seeds")] = 5,
    minutes: Annotated[float, typer.Option(help="start no run later")] = 600,
    out: Annotated[Path, typer.Option(help="report.md and finished runs")] = Path("lambdaboost-unseen"),
) -> None:
    """Run all rows on all sets, the first seed of all sets first, and write report.md.

    Finished runs of the same code are not repeated.
    """
    folder_of_runs = out / "runs" / digest(SOURCES)
    folder_of_runs.mkdir(parents=True, exist_ok=True)
    found: dict[Run, Outcome] = {}
    end = time.time() + 60 * minutes
    for one in [Run(str(name), seed) for seed in range(seeds) for name in sets or READERS]:
        kept = folder_of_runs / f"{one.data}-{one.seed}.npz"
        if not kept.exists() and time.time() < end:
            np.savez_compressed(kept.with_suffix(".part.npz"), **outcome_of(folder, one))
            kept.with_suffix(".part.npz").replace(kept)  # so that no stopped run is half there
        if kept.exists():
            found[one] = dict(np.load(kept))
            note(f"{one.data}-{one.seed}: done")
    write_report(found, out)


if __name__ == "__main__":
    run(main)
