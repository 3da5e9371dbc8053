"""Optuna, imported on first use, with one line where it is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optuna() -> Any:
    """The package.

    Raises
    ------
    ModuleNotFoundError
        Where it is not installed; in one line, with what to install.

    """
    try:
        return import_module("optuna")
    except ModuleNotFoundError as error:
        if error.name != "optuna":
            raise
        raise ModuleNotFoundError(
            "Optuna is not installed: pip install 'lambdaboost[tune]'", name="optuna"
        ) from None
