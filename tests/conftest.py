"""Shared settings of the tests."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A job in the background of a script ignores Ctrl-C, and so would every process that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What is printed has no colours and the width of a terminal, also in a CI that asks rich and Typer for colours.
for asking in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(asking, None)
os.environ["COLUMNS"] = "80"
# Neither a clock nor chance decides: a busy machine would be too slow for the deadline and for drawing.
settings.register_profile(
    "default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")
# It would also draw constants of the modules that are loaded: examples would depend on the tests run before.
with suppress(ImportError):  # of early versions, which draw none
    from hypothesis.internal.conjecture import providers

    providers._get_local_constants = lambda: providers._local_constants


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; tests that need it are skipped where LAMBDABOOST_DATA does not name it."""
    folder = os.environ.get("LAMBDABOOST_DATA")
    if not folder:
        pytest.skip("LAMBDABOOST_DATA is not set: no real data")
    return Path(folder)


@pytest.fixture(params=["lightgbm", "xgboost"])
def engine(request) -> str:
    """The name of each engine: a test that asks for it holds of both."""
    return request.param


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    """The checks of rare objectives are slow tests, wherever they are parametrised by one.

    Workers collect the same tests only if no id has an address in it.
    """
    assert not [item.nodeid for item in items if " at 0x" in item.nodeid]
    from rules import Rule, is_rare

    from lambdaboost.objectives import OBJECTIVES, Objective

    for item in items:
        for value in item.callspec.params.values() if hasattr(item, "callspec") else ():
            given = value.objective if isinstance(value, Rule) else value
            named = isinstance(given, str) and given.partition("(")[0] in OBJECTIVES
            if (named or isinstance(given, Objective)) and is_rare(given):
                item.add_marker(pytest.mark.slow)
