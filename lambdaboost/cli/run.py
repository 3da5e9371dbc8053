"""The commands, each in the module of its name, and `run`, with one line and an exit code for every error.

Messages of the library need no translation: options are called as the arguments and the words of its remedies are.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Sequence
from functools import cache
from io import TextIOWrapper
from typing import Annotated

import typer
from typer import Option

from lambdaboost import __version__
from lambdaboost._starting import STOPPED
from lambdaboost.cli.console import note
from lambdaboost.cli.demo import demo
from lambdaboost.cli.evaluate import evaluate
from lambdaboost.cli.predict import predict
from lambdaboost.cli.report import report
from lambdaboost.cli.train import train
from lambdaboost.cli.tune import tune
from lambdaboost.engines import refusal

OK, BAD_INPUT, BAD_USAGE, INTERNAL_ERROR = 0, 1, 2, 70

# Typer vendors Click since 0.27 and depended on it before; this public class has the bases of either.
UsageError = typer.BadParameter.__base__ or typer.BadParameter


app = typer.Typer(
    name="lambdaboost",
    help="Ranking objectives for stock LightGBM and XGBoost: train, score and measure from the command line.",
    epilog="Begin with: lambdaboost demo. Every command shows an example with --help. Files are CSV or Parquet by "
    "their suffix (.csv, .tsv, .parquet), otherwise LETOR text: lines 'grade qid:Q 1:v 2:v …'; text may be compressed, "
    "as in .csv.gz. Exit codes: 0 success, 1 invalid input, 2 invalid arguments, 70 a bug in lambdaboost, 130 stopped.",
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for _command in (demo, train, tune, predict):
    app.command(rich_help_panel="Train and predict")(_command)
for _measuring in (evaluate, report):
    app.command(rich_help_panel="Measure and compare")(_measuring)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lambdaboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, Option("--debug", help="Print the traceback of an error.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 success, 1 invalid input, 2 invalid arguments, 70 a bug, 130 stopped.

    ``--debug`` anywhere in `args` prints the traceback of an error.
    """
    words = [word for word in args if word != "--debug"]
    # Where a console or a file lacks characters, such as ▲, their codes are printed, as on standard error.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        command = typer.main.get_command(app)
        with warnings.catch_warnings():
            note_once = cache(note)  # a table may be read twice, as by report
            warnings.showwarning = lambda message, *_, **__: note_once(f"warning: {message}")
            code = command.main(words, "lambdaboost", standalone_mode=False)
    except SystemExit:  # of tune, which has written what was complete
        return STOPPED
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except Exception as error:
        if "--debug" in args:
            traceback.print_exc()
        code, message = describe_error(error)
        note(f"error: {message}")
    if code == STOPPED:
        note("lambdaboost: stopped, nothing written")
    return code or OK  # a command that succeeds returns None


def describe_error(error: Exception) -> tuple[int, str]:
    """The exit code of an error, and its message in a line."""
    if isinstance(error, UsageError):
        path = error.ctx.command_path if error.ctx else "lambdaboost"  # type: ignore[attr-defined]
        text = error.format_message().rstrip(".")  # type: ignore[attr-defined]
        if not text.endswith("?"):
            text += "."
        return BAD_USAGE, f"{text} See {path} --help."
    if isinstance(error, OSError):
        text = str(error)
        if error.filename is not None:
            text = f"{error.filename}: {error.strerror}"
        return BAD_INPUT, text
    if (text := refusal(error)) is not None:  # first, since XGBoost's error is a ValueError
        return BAD_INPUT, f"{text}; correct --param or the data"
    if isinstance(error, MemoryError):
        return BAD_INPUT, f"not enough memory ({error}): give smaller files, or fewer features by --drop"
    if isinstance(error, ValueError) or (isinstance(error, ImportError) and "pip install" in str(error)):
        return BAD_INPUT, str(error)
    return (
        INTERNAL_ERROR,
        f"{type(error).__name__}: {error}. This is a bug: please report it with the output of --debug",
    )
