"""The engines by name."""

from __future__ import annotations

from lambdaboost.cli.engine import Engine
from lambdaboost.cli.engine_lightgbm import LightGBM
from lambdaboost.cli.engine_xgboost import XGBoost

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (LightGBM(), XGBoost())}
