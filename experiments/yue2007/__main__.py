"""Repeat the experiments of Yue and Burges (2007): `python -m experiments.yue2007 --help`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from experiments.common.data import Data, one_fold
from experiments.common.script import add_number, out_folder, parser, read_data, run
from experiments.yue2007.report import QUICK, Effort, Reproduction, run_all, write_report
from lambdaboost.datasets import web_search_log

FEATURES = 367  # as in the paper's web data
SHARES = (0.5, 0.25, 0.25)


def main(arguments: Sequence[str] | None = None) -> Reproduction:
    """Descend by finite differences, SPSA and LambdaRank on linear rankers, and write report.md."""
    options = _parser().parse_args(arguments)
    data = read_data(options, log)
    out = out_folder(options)
    with threadpool_limits(1):  # matrices are too small for several threads
        made = run_all(data, QUICK if options.quick else Effort(), options.seed)
    write_report(made, out)
    return made


def log(options: Namespace) -> Data:
    """A synthetic search log with the number of features of the paper's web data."""
    queries, documents, seed = options.queries, options.documents, options.seed
    origin = f"lambdaboost.datasets.web_search_log({queries}, {documents}, {FEATURES}, seed={seed})"
    return one_fold(web_search_log(queries, documents, FEATURES, seed), SHARES, seed, origin)


def _parser() -> ArgumentParser:
    made = parser(
        "yue2007",
        "Figures 1 to 3, Table 1 and section 5.3 of Yue and Burges (2007), on the first fold of DATA.",
        "a search log of 367 features",
    )
    add_number(made, "queries", "queries of synthetic data", 600, least=20)
    add_number(made, "documents", "documents a query of synthetic data", 30, least=2)
    return made


if __name__ == "__main__":
    run(main)
