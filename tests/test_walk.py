"""The page "How λ is computed" lists the functions that a round calls: those that the command finds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "how_lambda_is_computed.md"


@pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="benchmarks are not in this archive")
def test_the_page_lists_the_calls_of_a_round():
    """In the fourth round, when all is made that is made once for a training."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.walk"],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Lists of 120 documents" in run.stdout
    assert run.stdout in PAGE.read_text(encoding="utf-8"), (
        f"python -m benchmarks.walk {PAGE.relative_to(ROOT)}"
    )
