"""Shared settings of the tests."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("default", deadline=None, derandomize=True)
settings.load_profile("default")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; tests that need it are skipped where LAMBDABOOST_DATA does not name it."""
    folder = os.environ.get("LAMBDABOOST_DATA")
    if not folder:
        pytest.skip("LAMBDABOOST_DATA is not set: no real data")
    return Path(folder)
