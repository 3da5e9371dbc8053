"""Repeat the experiments of Yue and Burges (2007): `python -m experiments.yue2007 --help`."""

from __future__ import annotations

from typing import Annotated

from threadpoolctl import threadpool_limits

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
from experiments.yue2007.report import QUICK, Effort, Reproduction, run_all, write_report
from lambdaboost.datasets import web_search_log

FEATURES = 367  # as in the paper's web data
SHARES = (0.5, 0.25, 0.25)


def main(
    data: DataOption = SYNTHETIC,
    out: Out = None,
    quick: Quick = False,
    seed: Seed = 0,
    queries: Annotated[int, whole("queries of synthetic data", least=20)] = 600,
    documents: Annotated[int, whole("documents a query of synthetic data", least=2)] = 30,
) -> Reproduction:
    """Figures 1 to 3, Table 1 and section 5.3 of Yue and Burges (2007), on the first fold of DATA.

    Descends by finite differences, SPSA and LambdaRank on linear rankers, and writes report.md. Synthetic data are a
    search log of 367 features.
    """
    read = read_data(data, seed, lambda: log(queries, documents, seed))
    folder = out_folder("yue2007", data, out, quick)
    with threadpool_limits(1):  # matrices are too small for several threads
        made = run_all(read, QUICK if quick else Effort(), seed)
    write_report(made, folder)
    return made


def log(queries: int, documents: int, seed: int) -> Data:
    """A synthetic search log with the number of features of the paper's web data."""
    origin = f"lambdaboost.datasets.web_search_log({queries}, {documents}, {FEATURES}, seed={seed})"
    return one_fold(web_search_log(queries, documents, FEATURES, seed), SHARES, seed, origin)


if __name__ == "__main__":
    run(main)
