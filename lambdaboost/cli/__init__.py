"""The command line `lambdaboost`: train, predict, evaluate, compare models, and a demonstration."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its exit code."""
    # Waiting OpenMP threads spin, which made XGBoost five times slower on shared cores. Read when an engine is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        from lambdaboost.cli.run import run
    except KeyboardInterrupt:
        print("lambdaboost: stopped, nothing written", file=sys.stderr)
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))
