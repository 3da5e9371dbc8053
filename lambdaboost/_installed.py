"""The engines that are installed: either will do, and the distribution `xgboost-cpu` is XGBoost too."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from typing import Any

ENGINES = ("lightgbm", "xgboost")
TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}


def engine_package(name: str) -> Any:
    """The engine's own package.

    Raises
    ------
    ModuleNotFoundError
        Where it is not installed; in one line, with what to install.

    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(f"{TITLES[name]} is not installed: {_remedy(name)}", name=name) from None


def first_installed() -> str:
    """The engine to take where none is named: LightGBM, unless only XGBoost is installed."""
    return next(iter(installed()), ENGINES[0])


def installed() -> tuple[str, ...]:
    """The engines that are installed, LightGBM first."""
    return tuple(name for name in ENGINES if find_spec(name))


def engine_version(name: str) -> str:
    """The engine's version, whichever distribution it came with."""
    return str(engine_package(name).__version__)


def _remedy(name: str) -> str:
    """What installs the engine in a version that lambdaboost supports."""
    wanted = next((one for one in requires("lambdaboost") or () if one.startswith(name)), name)
    smaller = f", or '{name}-cpu{wanted.removeprefix(name)}', smaller but without GPU support"
    return f"pip install '{wanted}'{smaller if name == 'xgboost' else ''}"
