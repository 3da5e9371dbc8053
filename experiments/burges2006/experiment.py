"""`reproduce_burges2006`: everything from the data to the report, in one folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from lambdaboost.cli.console import OUT, note
from lambdaboost.datasets import cubic_polynomial
from lambdaboost.reproduce.burges2006.nets import Accuracy, train_all
from lambdaboost.reproduce.burges2006.report import ndcg_table, write_report
from lambdaboost.reproduce.burges2006.speed import QUICK, Speed, SpeedPlan, measure_speed
from lambdaboost.reproduce.data import Data, Fold
from lambdaboost.reproduce.experiment import writable
from lambdaboost.reproduce.folders import read_folder

# Queries of training, validation and test, as the paper's 10,000, 5,000 and 10,000.
SHARES = {"train": 0.4, "vali": 0.2, "test": 0.4}
EPOCHS, QUICK_EPOCHS = 20, 2


@dataclass(frozen=True)
class Request:
    """What the command line asks for; no folder of data means the artificial ones."""

    folder: Path | None
    parts: tuple[str, ...]
    queries: int
    epochs: int
    seed: int
    quick: bool
    out: Path


def reproduce_burges2006(request: Request) -> tuple[Speed | None, Accuracy | None]:
    """Time the factored gradient, train the nets, print the tables and write the report."""
    writable(request.out)
    data = None
    if "accuracy" in request.parts:
        data = (
            read_folder(request.folder, seed=request.seed)
            if request.folder
            else cubic(request.queries, request.seed)
        )
    started = perf_counter()

    def told(text: str) -> None:
        note(f"{perf_counter() - started:5.0f} s  {text}")

    speed = measure_speed(QUICK if request.quick else SpeedPlan(), told) if "speed" in request.parts else None
    accuracy = train_all(data, request.epochs, request.seed, told) if data else None
    write_report(data.name if data else "synthetic", speed, accuracy, request.out)
    tables = [speed.speedups(), speed.slopes()] if speed else []
    for table in [*tables, *([ndcg_table(accuracy)] if accuracy else [])]:
        OUT.print(table) if OUT.is_terminal else print(table)
    note(f"written: {request.out / 'report.md'}")
    return speed, accuracy


def cubic(queries: int, seed: int) -> Data:
    """The artificial data of section 6.3.1, in the paper's proportions."""
    whole = cubic_polynomial(queries, seed=seed)
    cuts = np.rint(queries * np.cumsum([0, *SHARES.values()])).astype(int)
    parts = {
        name: whole.take(np.arange(a, b)).shuffled(seed)
        for name, a, b in zip(SHARES, cuts, cuts[1:], strict=False)
    }
    fold = Fold("the one fold", ("train",), ("vali",), ("test",))
    origin = (
        f"lambdaboost.datasets.cubic_polynomial({queries}, seed={seed}), 50 documents a query, 50 features"
    )
    return Data("synthetic", parts, (fold,), (), origin)
