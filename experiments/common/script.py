"""Options of the programs, by Typer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.common.data import Data, read_folder

SYNTHETIC = "synthetic"


def whole(what: str, least: int = 1) -> Any:
    """An option for a whole number of at least `least`."""
    return typer.Option(min=least, help=what)


# Options of every experiment.
DataOption = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="a folder of LETOR text, plain or compressed: S1 … S5 for five folds, or train…, vali… and test… files; "
        "or the word synthetic",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="where to write (default: results/NAME of the experiment, or NAME-quick)"
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="a small test run; not for publication")]
Seed = Annotated[int, whole("seed of synthetic data and of the order of rows", least=0)]
Workers = Annotated[int, whole("runs at a time")]
PROCESSORS = os.cpu_count() or 1


def read_data(data: str, seed: int, make: Callable[[], Data]) -> Data:
    """The folder that `data` names, or synthetic data."""
    return make() if data == SYNTHETIC else read_folder(Path(data), seed=seed)


def out_folder(paper: str, data: str, out: Path | None, quick: bool) -> Path:
    """Create and return the output folder; raises OSError if that fails."""
    name = Path(data).resolve().name + "-quick" * quick
    made = out or Path(__file__).parents[1] / paper / "results" / name
    made.mkdir(parents=True, exist_ok=True)
    return made


def note(text: str) -> None:
    """Print a line to standard error."""
    print(text, file=sys.stderr, flush=True)


def run(main: Callable[..., object]) -> None:
    """Run `main` with the options of the command line; invalid input ends it with a message of one line."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(main)
    try:
        app()
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
