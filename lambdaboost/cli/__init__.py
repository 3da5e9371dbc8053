"""The command line `lambdaboost`: train, predict, evaluate, compare models, and a demonstration."""

from __future__ import annotations

import os
import sys

from lambdaboost._starting import end_start


def main() -> None:
    """Run the command line and exit with its exit code."""
    # Waiting OpenMP threads spin, which made XGBoost five times slower on shared cores. Read when an engine is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from lambdaboost.cli.run import run

    end_start()
    sys.exit(run(sys.argv[1:]))
