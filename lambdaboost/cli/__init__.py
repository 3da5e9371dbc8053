"""The command `lambdaboost`: train, predict, evaluate, compare, and a demonstration."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line and leave with its exit code."""
    # OpenMP's threads spin while they wait; on shared cores that made XGBoost five times slower. Read when an engine
    # is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    stoppable = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # as it is under nohup
    if stoppable:
        signal.signal(signal.SIGINT, _leave)
    from lambdaboost.cli.run import STOPPED, run

    if stoppable:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = run(sys.argv[1:])
    if stoppable:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == STOPPED:
        # Where Ctrl-C met code that runs by exec(), Python would end with the signal and not with this code.
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _leave(*_: Any) -> None:
    """Leave at once: an import that Ctrl-C breaks off would print a traceback, and nothing is open yet."""
    os.write(2, b"lambdaboost: stopped, nothing written\n")
    os._exit(130)
