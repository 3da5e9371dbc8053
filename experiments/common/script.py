"""Options and exit codes of the experiments' scripts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

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
    made.add_argument(
        "--seed",
        type=at_least(0),
        default=0,
        help="seed of synthetic data and of the order of rows (default: 0)",
    )
    made.set_defaults(paper=paper)
    return made


def add_out(made: argparse.ArgumentParser, folder: str, what: str = "") -> None:
    """Add the option of a folder to write `what` to."""
    made.add_argument(
        "--out", type=Path, default=Path(folder), metavar="DIR", help=f"{what} (default: {folder})".strip()
    )


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option for whole numbers ≥ `least`."""

    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"is {text}: give a whole number ≥ {least}")
        return int(text)

    return whole


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
