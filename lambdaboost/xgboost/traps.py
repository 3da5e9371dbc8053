"""The rows of docs/traps.md about XGBoost."""

from __future__ import annotations

from lambdaboost.calls.traps import REFUSED, WARNED, Case, Found, Trap, given
from lambdaboost.engines import traps
from lambdaboost.engines.traps import CALL, MODEL, RESUMED, has_pair

# Parameters that make XGBoost sample where they are not 1.
SAMPLING = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")


def _sampling(case: Case) -> Found:
    names = [name for name in SAMPLING if float(case.params.get(name, 1)) != 1]
    if case.params.get("lambdarank_pair_method") == "mean":
        names.append("lambdarank_pair_method='mean'")
    if names:
        yield {"names": ", ".join(names)}


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
    Trap(
        "checkpoint and booster='dart'", REFUSED, RESUMED,
        "checkpoint with booster='dart': XGBoost would drop other trees after it resumes; train without checkpoint, or "
        "with booster='gbtree'", lambda case: bool(case.params.get("booster") == "dart"),
    ),
    Trap("checkpoint and sampling", WARNED, RESUMED, traps.SAMPLING, _sampling),
)  # fmt: skip
