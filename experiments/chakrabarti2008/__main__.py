"""Repeat the experiments of Chakrabarti et al. (2008): `python -m experiments.chakrabarti2008 --help`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from experiments.chakrabarti2008.preparation import prepare
from experiments.chakrabarti2008.report import write_report
from experiments.chakrabarti2008.results import GRID, QUICK_GRID, Results, train_all
from experiments.chakrabarti2008.scaling import SIZES
from experiments.common.data import synthetic
from experiments.common.script import add_number, out_folder, parser, read_data, run
from lambdaboost._jit import using

DOCUMENTS = 60  # per query of synthetic data


def main(arguments: Sequence[str] | None = None) -> Results:
    """Train linear rankers by every rule of the paper, and McRank, test them, and write report.md."""
    options = _parser().parse_args(arguments)
    threshold = options.threshold
    if threshold is None:
        threshold = 2.0 if options.data == "synthetic" else 1.0
    data = prepare(read_data(options, lambda of: synthetic(of.queries, DOCUMENTS, of.seed)), threshold)
    out = out_folder(options)
    grid, sizes = (QUICK_GRID, SIZES[:3]) if options.quick else (GRID, SIZES)
    with using(1):  # so that times are comparable
        results = train_all(data, threshold, grid, sizes, options.seed)
    write_report(results, out)
    return results


def _parser() -> ArgumentParser:
    made = parser(
        "chakrabarti2008",
        "Figures 4-10 of Chakrabarti, Khanna, Sawant and Bhattacharyya (2008): linear rankers by structured hinges.",
        "a search log",
    )
    made.add_argument(
        "--threshold",
        type=float,
        help="the lowest grade that counts as good (default: 1; 2 for synthetic data)",
    )
    add_number(made, "queries", "queries of synthetic data", 400, least=5)
    return made


if __name__ == "__main__":
    run(main)
