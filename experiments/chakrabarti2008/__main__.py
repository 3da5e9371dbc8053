"""Repeat the experiments of Chakrabarti et al. (2008): `python -m experiments.chakrabarti2008 --help`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from experiments.chakrabarti2008.preparation import load
from experiments.chakrabarti2008.report import write_report
from experiments.chakrabarti2008.results import GRID, QUICK_GRID, Results, train_all
from experiments.chakrabarti2008.scaling import SIZES
from experiments.common.script import at_least, note, out_folder, parser, run
from lambdaboost._threads import use


def main(arguments: Sequence[str] | None = None) -> Results:
    """Train linear rankers by every rule of the paper, and McRank, test them, and write report.md."""
    options = _parser().parse_args(arguments)
    synthetic = options.data == "synthetic"
    if not synthetic and options.queries is not None:
        raise ValueError(
            f"--queries {options.queries} is for synthetic data: {options.data} has its own queries"
        )
    threshold = options.threshold if options.threshold is not None else 2.0 if synthetic else 1.0
    folder = None if synthetic else Path(options.data)
    data = load(folder, options.queries or 400, threshold, options.seed)
    out = out_folder(options)
    started = perf_counter()

    def tell(text: str) -> None:
        note(f"{perf_counter() - started:5.0f} s  {text}")

    use(1)  # so that times are comparable
    grid, sizes = (QUICK_GRID, SIZES[:3]) if options.quick else (GRID, SIZES)
    results = train_all(data, threshold, grid, sizes, options.seed, tell)
    write_report(results, out)
    note(f"written: {out / 'report.md'}")
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
    made.add_argument("--queries", type=at_least(5), help="queries of synthetic data (default: 400)")
    return made


if __name__ == "__main__":
    run(main)
