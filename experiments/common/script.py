"""Options and exit codes of the experiments' scripts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from experiments.common.data import Data, read_folder

STOPPED = 130  # exit code after Ctrl-C, as in shells


def parser(paper: str, description: str, data: str) -> argparse.ArgumentParser:
    """A parser with the options of every experiment; `data` describes the synthetic data."""
    made = argparse.ArgumentParser(f"python -m experiments.{paper}", description=description)
    made.add_argument(
        "data",
        nargs="?",
        default="synthetic",
        metavar="DATA",
        help="a folder of LETOR text, plain or compressed: S1 … S5 for five folds, or train…, vali… and test… files; "
        f"or the word synthetic: {data} (default)",
    )
    made.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"the folder to write to (default: experiments/{paper}/results/NAME, or NAME-quick)",
    )
    made.add_argument("--quick", action="store_true", help="a small test run; not for publication")
    add_number(made, "seed", "seed of synthetic data and of the order of rows", 0, least=0)
    made.set_defaults(paper=paper)
    return made


def add_number(made: argparse.ArgumentParser, name: str, what: str, default: int | None, least: int) -> None:
    """Add an option for a whole number ≥ `least`; None where the script computes the default."""
    said = what if default is None else f"{what} (default: {default})"
    made.add_argument(f"--{name}", type=at_least(least), default=default, help=said)


def add_workers(made: argparse.ArgumentParser) -> None:
    """Add the option for the number of worker processes."""
    add_number(made, "workers", "runs at a time", os.cpu_count() or 1, least=1)


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option for whole numbers ≥ `least`."""

    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"is {text}: give a whole number ≥ {least}")
        return int(text)

    return whole


def read_data(options: argparse.Namespace, make: Callable[[argparse.Namespace], Data]) -> Data:
    """The folder that the options name, or synthetic data."""
    if options.data == "synthetic":
        return make(options)
    return read_folder(Path(options.data), seed=options.seed)


def out_folder(options: argparse.Namespace) -> Path:
    """Create and return the output folder; raises OSError if that fails."""
    name = options.data if options.data == "synthetic" else Path(options.data).resolve().name
    results = Path(__file__).parents[1] / options.paper / "results"
    out: Path = options.out or results / (f"{name}-quick" if options.quick else name)
    out.mkdir(parents=True, exist_ok=True)
    return out


def note(text: str) -> None:
    """Print a line to standard error."""
    print(text, file=sys.stderr, flush=True)


def run(main: Callable[[], object]) -> None:
    """Run a script: invalid input ends it with a message of one line, Ctrl-C with exit code 130."""
    try:
        main()
    except KeyboardInterrupt:
        note("stopped")
        sys.exit(STOPPED)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
