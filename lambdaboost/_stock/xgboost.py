"""Undocumented parts of stock XGBoost that lambdaboost reads, as of XGBoost 2.1 to 3.2.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple


def library() -> Any:
    """The engine's loaded library; None before it is imported."""
    return getattr(sys.modules.get("xgboost.core"), "_LIB", None)


def is_booster(value: object) -> bool:
    """Whether an object is an `xgboost.Booster`, by methods that LightGBM's does not have."""
    return hasattr(type(value), "num_boosted_rounds") and hasattr(type(value), "save_config")


class Settings(NamedTuple):
    """Settings of a booster; None for one that its configuration lacks, as that of gblinear lacks the tree method."""

    threads: str | None
    tree_method: str | None
    objective: str | None


def settings(booster: Any) -> Settings:
    """The settings, from the configuration; writing it takes as long as a short gradient."""
    learner = json.loads(booster.save_config()).get("learner", {})
    return Settings(
        learner.get("generic_param", {}).get("nthread"),
        learner.get("gradient_booster", {}).get("gbtree_train_param", {}).get("tree_method"),
        learner.get("objective", {}).get("name"),
    )
