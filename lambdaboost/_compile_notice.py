"""One line on stderr, once per process, if compiling kernels takes more than a second."""

from __future__ import annotations

import sys
import time
from threading import Timer
from typing import Any

from numba import config
from numba.core import event

from lambdaboost._kernel_cache import folder_to_write

SILENT_SECONDS = 1.0


class CompileNotice(event.Listener):
    """Listens to Numba's compilations, which are nested: a function waits for those that it calls."""

    def __init__(self) -> None:
        self._depth = 0
        self._since = 0.0
        self._spent = 0.0
        self._timer: Timer | None = None
        self._said = False

    def on_start(self, event: Any) -> None:
        """Start the timer at the outermost of lambdaboost's functions."""
        if self._said or not _is_own(event):
            return
        self._depth += 1
        if self._depth == 1:
            self._since = time.monotonic()
            self._timer = Timer(max(0.0, SILENT_SECONDS - self._spent), self._say)
            self._timer.daemon = True
            try:
                self._timer.start()
            except RuntimeError:  # no thread can be started, as at exit
                self._timer = None

    def on_end(self, event: Any) -> None:
        """Stop the timer after the outermost function."""
        if self._depth == 0 or not _is_own(event):
            return
        self._depth -= 1
        if self._depth == 0:
            self._spent += time.monotonic() - self._since
            if self._timer is not None:
                self._timer.cancel()

    def _say(self) -> None:
        if not self._said and sys.stderr is not None:
            self._said = True
            sys.stderr.write(f"lambdaboost: {compile_message()}\n")
            sys.stderr.flush()


def compile_message() -> str:
    """The message during compilation, which says where kernels are cached."""
    folder = folder_to_write()
    if folder is not None:
        return f"compiling kernels, which takes some seconds once; they are kept in {folder.parent}"
    where = f"{config.CACHE_DIR} is not writable" if config.CACHE_DIR else "no cache folder is writable"
    return (
        f"compiling kernels again in every process, since {where}: set NUMBA_CACHE_DIR to a writable folder"
    )


def _is_own(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).split(".")[0] == "lambdaboost"
