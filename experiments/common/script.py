"""What the scripts share: their options, and how they end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

STOPPED = 130  # exit code after Ctrl-C, as shells have it


def parser(paper: str, description: str, data: str) -> argparse.ArgumentParser:
    """A parser with the options that every experiment has; `data` says what the word synthetic stands for."""
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
    made.add_argument(
        "--quick", action="store_true", help="a small run to check that everything works; not for quoting"
    )
    made.add_argument(
        "--seed", type=at_least(0), default=0, help="draws synthetic data and shuffles rows (default: 0)"
    )
    made.set_defaults(paper=paper)
    return made


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that takes whole numbers from `least` on."""

    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"is {text}: give a whole number from {least} on")
        return int(text)

    return whole


def out_folder(options: argparse.Namespace) -> Path:
    """The folder to write to, which it makes; an OSError where it cannot."""
    name = options.data if options.data == "synthetic" else Path(options.data).resolve().name
    results = Path(__file__).parents[1] / options.paper / "results"
    out: Path = options.out or results / (f"{name}-quick" if options.quick else name)
    out.mkdir(parents=True, exist_ok=True)
    return out


def note(text: str) -> None:
    """A line beside the results."""
    print(text, file=sys.stderr, flush=True)


def run(main: Callable[[], object]) -> None:
    """Run a script: wrong input ends it with one line, Ctrl-C with exit code 130."""
    try:
        main()
    except KeyboardInterrupt:
        note("stopped")
        sys.exit(STOPPED)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
