"""Ctrl-C while the command `lambdaboost` starts, whose imports take half a second: one line, as at any later time.

The package imports this first. A command has nothing to clean up before its own code runs, so its process simply ends;
`lambdaboost.cli.main` then gives Ctrl-C back to Python. No other program is touched.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

STOPPED = 130  # the exit code of a command that Ctrl-C ended


def is_command(words: list[str]) -> bool:
    """Whether these words of a command line, as of `sys.orig_argv`, start the command `lambdaboost`.

    >>> is_command(["python", "/bin/lambdaboost", "train"]), is_command(["python", "-m", "lambdaboost"])
    (True, True)
    >>> is_command(["python", "-m", "pytest", "lambdaboost"]), is_command(["python"])
    (False, False)
    """
    program = [word for word in words[1:3] if word != "-m"][:1]
    return any(Path(name).stem == "lambdaboost" for name in program)


def stop(*_: Any) -> None:
    """End the process at once."""
    os.write(2, b"lambdaboost: stopped, nothing written\n")
    os._exit(STOPPED)


def end_start() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Where Ctrl-C is ignored, as of a program in the background, it stays so.
if is_command(sys.orig_argv) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, stop)
