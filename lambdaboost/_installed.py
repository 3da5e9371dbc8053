"""Libraries that may be missing: the engines, of which one is enough, and those that a few functions need."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from typing import Any

ENGINES = ("lightgbm", "xgboost")
# The suffixes of model files by which a format is known.
SUFFIXES = {"lightgbm": (".txt",), "xgboost": (".ubj", ".json")}
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


def engine_named(name: str) -> Any:
    """The module of an engine, `lambdaboost.lightgbm` or `lambdaboost.xgboost`, imported on first use."""
    return import_module(f"lambdaboost.{name}")


def engine_of(model: Any) -> str | None:
    """The name of the engine of a booster; None for anything else."""
    name = type(model).__module__.split(".")[0]
    return name if name in ENGINES and type(model).__name__ == "Booster" else None


def first_installed() -> str:
    """The default engine: LightGBM, unless only XGBoost is installed."""
    return next(iter(installed()), ENGINES[0])


def installed() -> tuple[str, ...]:
    """The engines that are installed, LightGBM first."""
    return tuple(name for name in ENGINES if find_spec(name))


def engine_version(name: str) -> str:
    """The engine's version, whichever distribution it came with."""
    return str(package(name).__version__)


def refusal(error: Exception) -> str | None:
    """The message of an engine's error in one line, without stack and places in its source; None for others' errors.

    >>> refusal(type("E", (Exception,), {"__module__": "lightgbm"})("Check failed: (x) > (1) at a.cpp, line 3 ."))
    'LightGBM reports: Check failed: (x) > (1)'
    """
    engine = type(error).__module__.partition(".")[0]
    if engine not in ENGINES:
        return None
    text = re.sub(r" at \S+, line \d+|^\[[\d:]+\] \S+:\d+: ", "", str(error).partition("Stack trace")[0])
    return f"{TITLES[engine]} reports: {' '.join(text.split()).rstrip(' .')}"
