"""Lets `pytest evaluation/` test the package that the folder links to, under the package's own name."""

from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Replace linked folders among the arguments by what they link to."""
    config.args = [_resolved(config.invocation_params.dir, argument) for argument in config.args]


def _resolved(folder: Path, argument: str) -> str:
    path, separator, test = argument.partition("::")
    return f"{(folder / path).resolve()}{separator}{test}" if (folder / path).exists() else argument
