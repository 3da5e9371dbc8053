"""Repeat the experiments of Burges, Ragno and Le (2006): `python -m experiments.burges2006 --help`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

import torch

from experiments.burges2006.nets import train_all
from experiments.burges2006.report import write_report
from experiments.burges2006.speed import QUICK, SpeedPlan, measure_speed
from experiments.common.cubic import cubic_polynomial
from experiments.common.data import Data, one_fold
from experiments.common.script import add_number, out_folder, parser, read_data, run
from lambdaboost._jit import using

# Queries of training, validation and test, as the paper's 10,000, 5,000 and 10,000.
SHARES = (0.4, 0.2, 0.4)


def main(arguments: Sequence[str] | None = None) -> Path:
    """Time RankNet pair by pair and factored, train nets by RankNet and LambdaRank, and write report.md."""
    options = _parser().parse_args(arguments)
    options.queries = options.queries or (30 if options.quick else 1000)
    data = read_data(options, cubic)
    out = out_folder(options)
    torch.set_num_threads(1)  # queries are small, so a second thread costs more than it gains
    speed = accuracy = None
    with using(1):
        if options.only != "accuracy":
            speed = measure_speed(QUICK if options.quick else SpeedPlan())
        if options.only != "speed":
            accuracy = train_all(data, options.epochs or (2 if options.quick else 20), options.seed)
    write_report(data, speed, accuracy, out)
    return out


def cubic(options: Namespace) -> Data:
    """The synthetic data of section 6.3.1, split in the paper's proportions."""
    queries, seed = options.queries, options.seed
    origin = f"experiments.common.cubic.cubic_polynomial({queries}, seed={seed}), 50 documents a query, 50 features"
    return one_fold(cubic_polynomial(queries, seed=seed), SHARES, seed, origin)


def _parser() -> ArgumentParser:
    made = parser(
        "burges2006",
        "Figures 1 and 2 of Burges, Ragno and Le (2006): RankNet's speed-up, and RankNet against LambdaRank in nets. "
        "Keep the machine idle while it runs.",
        "the paper's cubic polynomials",
    )
    made.add_argument("--only", choices=["speed", "accuracy"], help="only time gradients, or only train nets")
    add_number(made, "queries", "queries of synthetic data (default: 1000, 30 with --quick)", None, least=10)
    add_number(made, "epochs", "epochs of a net (default: 20, 2 with --quick)", None, least=1)
    return made


if __name__ == "__main__":
    run(main)
