"""The command `lambdaboost`: train, predict, evaluate, and a demonstration."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # OpenMP's threads spin while they wait; on shared cores that made XGBoost five times slower. Read when an engine
    # is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        from lambdaboost.cli.run import run
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))
