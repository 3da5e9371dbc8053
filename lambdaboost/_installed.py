"""Libraries that may be missing: the engines, of which one is enough, and those that a few functions need."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import requires
from typing import Any

TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}


def package(name: str) -> Any:
    """An engine or an optional library, imported on first use.

    Raises
    ------
    ModuleNotFoundError
        Where it is not installed; in one line, with the command that installs it.

    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"{TITLES.get(name, name)} is not installed: {install_command(name)}", name=name
        ) from None


def install_command(name: str) -> str:
    """The command that installs a library, in a version that lambdaboost supports.

    >>> install_command("polars").startswith("pip install 'polars")
    True
    """
    wanted = next((one for one in requires("lambdaboost") or () if re.match(rf"{name}\b(?!-)", one)), name)
    wanted = re.sub(r"\[.*?\]", "", wanted.partition(";")[0]).strip()
    smaller = f", or '{name}-cpu{wanted.removeprefix(name)}', smaller but without GPU support"
    return f"pip install '{wanted}'{smaller if name == 'xgboost' else ''}"
