"""The command line `lambdaboost`: train, predict, evaluate, compare models, and a demonstration."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line and exit with its exit code."""
    # Waiting OpenMP threads spin, which made XGBoost five times slower on shared cores. Read when an engine is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    stoppable = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # as it is under nohup
    if stoppable:
        signal.signal(signal.SIGINT, _leave)
    from lambdaboost.cli.run import STOPPED, run

    if stoppable:
        signal.signal(signal.SIGINT, _interrupt)
    code = run(sys.argv[1:])
    if stoppable:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == STOPPED:
        # If Ctrl-C interrupts code run by exec(), Python would exit with the signal and not with this code.
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _interrupt(_: int, frame: Any) -> None:
    """Raise KeyboardInterrupt; leave where importlib would ignore it, in the callback that drops a module's lock."""
    if frame is not None and frame.f_code.co_name == "cb" and "importlib" in frame.f_code.co_filename:
        _leave()
    raise KeyboardInterrupt


def _leave(*_: Any) -> None:
    """Exit at once: Ctrl-C during an import would print a traceback, and no file is open yet."""
    os.write(2, b"lambdaboost: stopped, nothing written\n")
    os._exit(130)
