"""Repeat the experiments of Chakrabarti et al. (2008): `python -m experiments.chakrabarti2008 --help`."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.chakrabarti2008.preparation import prepare
from experiments.chakrabarti2008.report import write_report
from experiments.chakrabarti2008.results import GRID, QUICK_GRID, Results, train_all
from experiments.chakrabarti2008.scaling import SIZES
from experiments.common.data import synthetic
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

DOCUMENTS = 60  # per query of synthetic data


def main(
    data: DataOption = SYNTHETIC,
    out: Out = None,
    quick: Quick = False,
    seed: Seed = 0,
    threshold: Annotated[
        float | None, typer.Option(help="lowest grade that counts as good (default: 1; 2 for synthetic data)")
    ] = None,
    queries: Annotated[int, whole("queries of synthetic data", least=5)] = 400,
) -> Results:
    """Figures 4-10 of Chakrabarti, Khanna, Sawant and Bhattacharyya (2008): linear rankers by structured hinges.

    Trains linear rankers by every rule of the paper, and McRank, tests them, and writes report.md. Synthetic data are a
    search log.
    """
    if threshold is None:
        threshold = 2.0 if data == SYNTHETIC else 1.0
    read = prepare(read_data(data, seed, lambda: synthetic(queries, DOCUMENTS, seed)), threshold)
    folder = out_folder("chakrabarti2008", data, out, quick)
    grid, sizes = (QUICK_GRID, SIZES[:3]) if quick else (GRID, SIZES)
    with using(1):  # so that times are comparable
        results = train_all(read, threshold, grid, sizes, seed)
    write_report(results, folder)
    return results


if __name__ == "__main__":
    run(main)
