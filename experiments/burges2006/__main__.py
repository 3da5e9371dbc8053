"""Repeat the experiments of Burges, Ragno and Le (2006): `python -m experiments.burges2006 --help`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import torch  # where it is missing: pip install torch, or EXTRAS=test,lint,torch make reproduce PAPER=burges2006
import typer

from experiments.burges2006.nets import train_all
from experiments.burges2006.report import write_report
from experiments.burges2006.speed import QUICK, SpeedPlan, measure_speed
from experiments.common.cubic import cubic_polynomial
from experiments.common.data import Data, one_fold
from experiments.common.script import (
    SYNTHETIC,
    DataOption,
    Out,
    Quick,
    Seed,
    out_folder,
    read_data,
    run,
    whole,
)
from lambdaboost._jit import using

# Queries of training, validation and test, as the paper's 10,000, 5,000 and 10,000.
SHARES = (0.4, 0.2, 0.4)
Part = StrEnum("Part", ["speed", "accuracy"])


def main(
    data: DataOption = SYNTHETIC,
    out: Out = None,
    quick: Quick = False,
    seed: Seed = 0,
    only: Annotated[Part | None, typer.Option(help="only time gradients, or only train nets")] = None,
    queries: Annotated[
        int | None, whole("queries of synthetic data (default: 1000, 30 with --quick)", least=10)
    ] = None,
    epochs: Annotated[int | None, whole("epochs of a net (default: 20, 2 with --quick)")] = None,
) -> None:
    """Figures 1 and 2 of Burges, Ragno and Le (2006): RankNet's speed-up, and RankNet against LambdaRank in nets.

    Writes report.md. Synthetic data are the paper's cubic polynomials. Keep the machine idle while it runs.
    """
    read = read_data(data, seed, lambda: cubic(queries or (30 if quick else 1000), seed))
    folder = out_folder("burges2006", data, out, quick)
    torch.set_num_threads(1)  # queries are small, so a second thread costs more than it gains
    speed = accuracy = None
    with using(1):
        if only != "accuracy":
            speed = measure_speed(QUICK if quick else SpeedPlan())
        if only != "speed":
            accuracy = train_all(read, epochs or (2 if quick else 20), seed)
    write_report(read, speed, accuracy, folder)


def cubic(queries: int, seed: int) -> Data:
    """The synthetic data of section 6.3.1, split in the paper's proportions."""
    origin = f"experiments.common.cubic.cubic_polynomial({queries}, seed={seed}), 50 documents a query, 50 features"
    return one_fold(cubic_polynomial(queries, seed=seed), SHARES, seed, origin)


if __name__ == "__main__":
    run(main)
