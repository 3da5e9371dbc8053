"""The rows of docs/traps.md about XGBoost."""

from __future__ import annotations

from lambdaboost.calls.traps import REFUSED, WARNED, Trap, given
from lambdaboost.engines import traps
from lambdaboost.engines.traps import CALL, MODEL, has_pair

TRAPS = (
    Trap(
        "rounds among the parameters", REFUSED, CALL,
        "params has {name}={value}, which XGBoost does not read there: give rounds={value} of the call, or "
        "n_estimators={value} of a ranker", given("num_boost_round", "n_estimators"),
    ),
    Trap(
        "early stopping among the parameters", REFUSED, CALL,
        "params has {name}={value}, which XGBoost does not read there: give early_stopping_rounds={value} of the call",
        given("early_stopping_rounds"),
    ),
    Trap(
        "min_child_weight", WARNED, MODEL,
        traps.WITHOUT_SPLIT + ", so all documents score the same. min_child_weight (1 by default) sums hessians, which "
        "are small for small data: try min_child_weight=0", has_pair,
    ),
)  # fmt: skip
