"""Repeat the experiments of Yue and Burges (2007): `python -m experiments.yue2007 --help`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments.common.data import Data, one_fold
from experiments.common.folders import read_folder
from experiments.common.script import at_least, note, out_folder, parser, run
from experiments.yue2007.report import QUICK, Effort, Reproduction, run_all, write_report
from lambdaboost.datasets import web_search_log

FEATURES = 367  # as in the paper's web data
SHARES = (0.5, 0.25, 0.25)


def main(arguments: Sequence[str] | None = None) -> Reproduction:
    """Descend by finite differences, SPSA and LambdaRank on linear rankers, and write report.md."""
    options = _parser().parse_args(arguments)
    if options.data == "synthetic":
        data = log(options.queries, options.documents, options.seed)
    else:
        data = read_folder(Path(options.data), seed=options.seed)
    out = out_folder(options)
    with threadpool_limits(1):  # matrices are too small for several threads
        made = run_all(data, QUICK if options.quick else Effort(), options.seed, note)
    write_report(made, out)
    note(f"written: {out / 'report.md'}")
    return made


def log(queries: int, documents: int, seed: int) -> Data:
    """A synthetic search log with the number of features of the paper's web data."""
    origin = f"lambdaboost.datasets.web_search_log({queries}, {documents}, {FEATURES}, seed={seed})"
    return one_fold(web_search_log(queries, documents, FEATURES, seed), SHARES, seed, origin)


def _parser() -> ArgumentParser:
    made = parser(
        "yue2007",
        "Figures 1 and 2 and Table 1 of Yue and Burges (2007), on the first fold of DATA.",
        "a search log of 367 features",
    )
    made.add_argument(
        "--queries", type=at_least(20), default=600, help="queries of synthetic data (default: 600)"
    )
    made.add_argument(
        "--documents", type=at_least(2), default=30, help="documents a query of synthetic data (default: 30)"
    )
    return made


if __name__ == "__main__":
    run(main)
