"""The rows of docs/traps.md about XGBoost."""

from __future__ import annotations

from typing import Any

from lambdaboost.calls.traps import REFUSED, WARNED, Case, Found, Trap, given
from lambdaboost.engines import traps
from lambdaboost.engines.traps import CALL, MODEL, NEWTON, RESUMED, has_pair

# Parameters that make XGBoost sample where they are not 1.
SAMPLING = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")

# Parameters that XGBoost 3.2 handles wrongly or refuses late with vector leaves, with the values that work.
VECTOR_LEAVES: dict[str, tuple[Any, ...]] = {
    "booster": ("gbtree",),
    "rate_drop": (0,),
    "one_drop": (0,),
    "tree_method": ("hist", "auto"),
    "sampling_method": ("uniform",),
    "multi_strategy": ("multi_output_tree",),
    "monotone_constraints": (),
    "interaction_constraints": (),
    "eval_metric": (),
    "min_child_weight": (0,),
}


def _other_leaves(case: Case) -> Found:
    for name, allowed in VECTOR_LEAVES.items():
        if (value := case.params.get(name)) is not None and value not in allowed:
            remedy = f"only {' or '.join(map(repr, allowed))} does" if allowed else "leave it out"
            yield {"name": name, "value": value, "remedy": remedy}


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
        'leaves="newton" on XGBoost', REFUSED, NEWTON,
        "params[{name!r}] is {value!r}, which leaves='newton' cannot use: {remedy}", _other_leaves,
    ),
    Trap(
        'leaves="newton" on XGBoost', REFUSED, NEWTON,
        "{name} has a base_margin, which leaves='newton' cannot start from: use leaves='engine'",
        lambda case: [{"name": case.name}] if case.data.get_base_margin().size else [],
    ),
    Trap(
        'leaves="newton" on XGBoost', REFUSED, NEWTON,
        "{name} has categorical features, which leaves='newton' cannot split: use leaves='engine'",
        lambda case: [{"name": case.name}] if "c" in (case.data.feature_types or ()) else [],
    ),
    Trap(
        "checkpoint and booster='dart'", REFUSED, RESUMED,
        "checkpoint with booster='dart': XGBoost would drop other trees after it resumes; train without checkpoint, or "
        "with booster='gbtree'", lambda case: bool(case.params.get("booster") == "dart"),
    ),
    Trap("checkpoint and sampling", WARNED, RESUMED, traps.SAMPLING, _sampling),
)  # fmt: skip
