"""`run`: the command line with every failure told in one line and an exit code."""

from __future__ import annotations

import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from lambdaboost.cli.app import app

OK, BAD_INPUT, BAD_USAGE, DEFECT, STOPPED = 0, 1, 2, 70, 130

# Typer carries its own copy of Click since 0.27 and depended on it before; its public name leads to either's bases.
UsageError = typer.BadParameter.__base__ or typer.BadParameter


def run(args: Sequence[str]) -> int:
    """Run one command; the exit code is 0, or 1 for input that cannot be used, 2 for arguments that do not read,
    130 if stopped, 70 for a defect.

    ``--debug`` anywhere among `args` prints the traceback of a failure.
    """
    debug = "--debug" in args
    try:
        command = typer.main.get_command(app)
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = command.main([a for a in args if a != "--debug"], "lambdaboost", standalone_mode=False)
    except KeyboardInterrupt:
        code = STOPPED
    except typer.Abort:
        code = STOPPED
    except Exception as error:
        if debug:
            traceback.print_exc()
        code, message = _told(error)
        print(f"lambdaboost: {' '.join(message.split())}", file=sys.stderr)
    if code == STOPPED:
        print("lambdaboost: stopped, nothing written", file=sys.stderr)
    return code if isinstance(code, int) else OK


def _show_warning(message: Warning | str, *place: Any, **further: Any) -> None:
    """A warning in one line, without the line of code that raised it."""
    print(f"lambdaboost: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _told(error: Exception) -> tuple[int, str]:
    """Exit code and message of a failure."""
    if isinstance(error, UsageError):
        path = error.ctx.command_path if error.ctx else "lambdaboost"  # type: ignore[attr-defined]
        said = error.format_message().replace("Value error, ", "")  # type: ignore[attr-defined]
        return BAD_USAGE, f"{said}{'' if said.endswith(('.', '?')) else '.'} See {path} --help."
    if isinstance(error, OSError):
        return BAD_INPUT, _of_file(error)
    if isinstance(error, ValueError) or _lacks_extra(error):
        return BAD_INPUT, str(error)
    engine = type(error).__module__.partition(".")[0]
    if engine in ("lightgbm", "xgboost"):
        return BAD_INPUT, f"{engine} refuses: {_reason(str(error))}; correct --param or the data"
    return DEFECT, (
        f"{type(error).__name__}: {error}. This is a defect: please report what --debug prints in addition"
    )


def _lacks_extra(error: Exception) -> bool:
    """Whether it says which extra to install."""
    return isinstance(error, ImportError) and "lambdaboost[" in str(error)


def _of_file(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    remedy = {
        "FileNotFoundError": "check the path",
        "PermissionError": "choose a place that you may use",
        "IsADirectoryError": "give a file",
    }
    return f"{error.filename}: {error.strerror}; {remedy.get(type(error).__name__, 'check the disk')}"


def _reason(text: str) -> str:
    """What an engine says, without the stack of its own calls and the places in its sources."""
    return re.sub(r" at \S+, line \d+", "", text.partition("Stack trace")[0]).strip(" .\n")
