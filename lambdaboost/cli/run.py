"""`run`: the command line, with one line and an exit code for every error."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from lambdaboost._installed import refusal
from lambdaboost.cli.app import app
from lambdaboost.cli.console import StoppedButWrote, note

OK, BAD_INPUT, BAD_USAGE, DEFECT, STOPPED = 0, 1, 2, 70, 130

# The options of Python's arguments.
OPTIONS = {
    "train": "TRAIN",
    "objectives": "--objective",
    "params": "--param",
    "early_stopping_rounds": "--early-stopping",
    "sources": "--source",
    "n_features": "--features",
}
SAME = (
    *("valid", "objective", "engine", "rounds", "measure", "keep", "settings", "minutes", "split"),
    *("folds", "study", "workers", "seed", "query", "position", "unseen"),
    *("label", "weight", "document", "categorical", "drop"),
)
OPTIONS |= {name: f"--{name}" for name in SAME}

# Typer vendors Click since 0.27 and depended on it before; this public class has the bases of either.
UsageError = typer.BadParameter.__base__ or typer.BadParameter


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 success, 1 invalid input, 2 invalid arguments, 70 a bug, 130 stopped.

    ``--debug`` anywhere in `args` prints the traceback of an error.
    """
    debug, wrote = "--debug" in args, False
    try:
        command = typer.main.get_command(app)
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = command.main([a for a in args if a != "--debug"], "lambdaboost", standalone_mode=False)
    except StoppedButWrote:
        code, wrote = STOPPED, True
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except Exception as error:
        if debug:
            traceback.print_exc()
        code, message = _described(error)
        note(f"lambdaboost: {message}")
    if code == STOPPED and not wrote:
        note("lambdaboost: stopped, nothing written")
    return code if isinstance(code, int) else OK


def _show_warning(message: Warning | str, *place: Any, **further: Any) -> None:
    """Print a warning in one line, without its source line."""
    note(f"lambdaboost: warning: {in_options(str(message))}")


def in_options(message: str) -> str:
    """A message of a Python function, which begins with the argument that is wrong, with its option in that place.

    >>> in_options("keep is 2: give the loss that is allowed, such as 0.005")
    '--keep is 2: give the loss that is allowed, such as 0.005'
    """
    name = next(iter(message.replace(":", " ").replace(",", " ").split()), "")
    return OPTIONS[name] + message[len(name) :] if name in OPTIONS else message


def _described(error: Exception) -> tuple[int, str]:
    """Exit code and message of an error."""
    if isinstance(error, UsageError):
        path = error.ctx.command_path if error.ctx else "lambdaboost"  # type: ignore[attr-defined]
        said = error.format_message().replace("Value error, ", "")  # type: ignore[attr-defined]
        return BAD_USAGE, f"{said}{'' if said.endswith(('.', '?')) else '.'} See {path} --help."
    if isinstance(error, OSError):
        return BAD_INPUT, _of_file(error)
    if (said := refusal(error)) is not None:  # first, since XGBoost's error is a ValueError
        return BAD_INPUT, f"{said}; correct --param or the data"
    if isinstance(error, ValueError) or (isinstance(error, ImportError) and "pip install" in str(error)):
        return BAD_INPUT, in_options(str(error))
    return DEFECT, (
        f"{type(error).__name__}: {error}. This is a bug: please report it with the output of --debug"
    )


def _of_file(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    remedy = {
        "FileNotFoundError": "check the path",
        "PermissionError": "choose a path that you have permission for",
        "IsADirectoryError": "give a file",
    }
    return f"{error.filename}: {error.strerror}; {remedy.get(type(error).__name__, 'check the disk')}"
