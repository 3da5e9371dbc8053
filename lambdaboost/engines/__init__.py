"""All that lambdaboost knows of LightGBM and XGBoost, documented or not; neither is imported before it is used.

>>> ENGINES["xgboost"].NATIVE_OBJECTIVES
('rank:ndcg', 'rank:pairwise', 'rank:map')
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from lambdaboost.engines import lightgbm, xgboost
from lambdaboost.engines.base import Engine

# By name; mypy checks here that each module has what the protocol asks.
ENGINES: dict[str, Engine] = {"lightgbm": lightgbm, "xgboost": xgboost}


def engine_of(booster: Any) -> Engine | None:
    """The engine of a booster; None for anything else."""
    return next(
        (engine for engine in ENGINES.values() if hasattr(type(booster), engine.BOOSTER_METHOD)), None
    )


def engine_of_data(data: Any) -> Engine | None:
    """The engine of a data set; None for anything else."""
    return next((engine for engine in ENGINES.values() if hasattr(type(data), engine.DATA_METHOD)), None)


def first_installed() -> str:
    """The default engine: LightGBM, unless only XGBoost is installed."""
    return next((name for name in ENGINES if find_spec(name)), "lightgbm")


def refusal(error: Exception) -> str | None:
    """The message of an engine's error in one line, without stack and places in its source; None for others' errors.

    >>> refusal(type("E", (Exception,), {"__module__": "lightgbm"})("Check failed: (x) > (1) at a.cpp, line 3 ."))
    'LightGBM reports: Check failed: (x) > (1)'
    """
    engine = ENGINES.get(type(error).__module__.partition(".")[0])
    if engine is None:
        return None
    text = re.sub(r" at \S+, line \d+|^\[[\d:]+\] \S+:\d+: ", "", str(error).partition("Stack trace")[0])
    return f"{engine.TITLE} reports: {' '.join(text.split()).rstrip(' .')}"
