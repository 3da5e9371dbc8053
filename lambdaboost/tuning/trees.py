"""The trees of a setting: their parameters under one name for both engines, their ranges, and known good starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lambdaboost._installed import package

NO_L2 = 0.001  # the lower end of the logarithmic range means no L2
# The engines' names for each parameter, the main one first: what the user fixes under any of them is not searched, nor
# is a fraction of rows where the parameter that switches it on is fixed.
NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "lightgbm": {
        "learning_rate": ("learning_rate", "shrinkage_rate", "eta"),
        "max_leaves": ("num_leaves", "num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
        "feature_fraction": ("feature_fraction", "sub_feature", "colsample_bytree"),
        "row_fraction": (
            *("bagging_fraction", "sub_row", "subsample", "bagging", "bagging_freq", "subsample_freq"),
            *("data_sample_strategy", "boosting", "boosting_type", "boost"),
        ),
        "l2": ("lambda_l2", "reg_lambda", "lambda"),
        "least_documents": (
            *("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
        ),
    },
    "xgboost": {
        "learning_rate": ("learning_rate", "eta"),
        "max_leaves": ("max_leaves", "max_depth"),
        "feature_fraction": ("colsample_bytree",),
        "row_fraction": ("subsample",),
        "l2": ("lambda", "reg_lambda"),
        "least_hessian": ("min_child_weight",),
    },
}
_COLUMNS = (
    *("learning_rate", "max_leaves", "feature_fraction", "row_fraction", "l2", "least_documents"),
    "least_hessian",
)
# Good on many sets (benchmarks/results/portfolio.md), from small trees to large ones.
STARTS = tuple(
    dict(zip(_COLUMNS, values, strict=True))
    for values in (
        (0.1, 6, 1.0, 1.0, NO_L2, 20, 0.1),
        (0.063, 8, 0.75, 0.96, 0.28, 8, 0.1),
        (0.07, 16, 0.6, 0.97, 0.25, 16, 0.1),
        (0.07, 31, 0.8, 0.8, 1.0, 50, 0.1),
    )
)


def tree_space(engine: str, documents: int, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Optuna's distributions of the trees' parameters for this number of rows, without those that are `fixed`.

    >>> list(tree_space("lightgbm", 1000, {"num_leaves": 15}))
    ['learning_rate', 'feature_fraction', 'row_fraction', 'l2', 'least_documents']
    """
    of = package("optuna").distributions
    every = {
        "learning_rate": of.FloatDistribution(0.04, 0.12, log=True),
        "max_leaves": of.IntDistribution(4, min(max(documents // 20, 31), 128), log=True),
        "feature_fraction": of.FloatDistribution(0.5, 1.0),
        "row_fraction": of.FloatDistribution(0.6, 1.0),
        "l2": of.FloatDistribution(NO_L2, 10.0, log=True),
        "least_documents": of.IntDistribution(1, max(20, min(300, documents // 20)), log=True),
        "least_hessian": of.FloatDistribution(0.01, 30.0, log=True),
    }
    names = NAMES[engine]
    return {name: one for name, one in every.items() if name in names and not {*names[name]} & {*fixed}}


def near_trees(best: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """The best trees at a lower learning rate, and with other fractions of rows and features."""
    slower = {"learning_rate": 0.6 * best.get("learning_rate", 0.1)}
    part = 0.8 if best.get("row_fraction", 1.0) == 1 else 1.0
    return {**best, **slower}, {**best, "row_fraction": part, "feature_fraction": 0.8}


def tree_params(engine: str, trees: Mapping[str, float], by_steps: bool) -> dict[str, Any]:
    """The engine's parameters of these trees.

    Gradient steps take the smallest leaf that suits them, which counts documents on both engines.

    >>> tree_params("lightgbm", {"max_leaves": 15, "l2": 0.001, "row_fraction": 0.5}, False)
    {'num_leaves': 15, 'lambda_l2': 0.0, 'bagging_fraction': 0.5, 'bagging_freq': 1, 'max_depth': 0}
    """
    kept = {name: value for name, value in trees.items() if not (by_steps and name.startswith("least"))}
    params: dict[str, Any] = {NAMES[engine][name][0]: value for name, value in kept.items()}
    if kept.get("l2", 1.0) <= NO_L2:
        params[NAMES[engine]["l2"][0]] = 0.0
    if params.get("bagging_fraction", 1.0) < 1:
        params["bagging_freq"] = 1
    if "max_leaves" in kept:  # grown leaf by leaf on both engines
        params |= {"max_depth": 0} | ({"grow_policy": "lossguide"} if engine == "xgboost" else {})
    return params
