"""Measurements in new Python processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lambdaboost


def measured(code: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run `code` in a new process, which imports the same lambdaboost, and return the JSON that it prints last."""
    package = str(Path(lambdaboost.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    given = {**os.environ, "PYTHONPATH": path, **(env or {})}
    run = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        last = [f"exit code {run.returncode}", *run.stderr.strip().splitlines()][-1]
        raise RuntimeError(f"a benchmark process failed: {last}")
    result: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return result
