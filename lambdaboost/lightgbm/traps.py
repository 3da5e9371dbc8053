"""The rows of docs/traps.md about LightGBM."""

from __future__ import annotations

import numpy as np

from lambdaboost._lightgbm import BOOSTING, is_constructed, is_true
from lambdaboost.calls.traps import BAGGING_BY_QUERY, REFUSED, WARNED, Case, Trap, given
from lambdaboost.engines import traps
from lambdaboost.engines.traps import MODEL, OBJECTIVE, has_pair

ROUNDS = (
    *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round"),
    *("num_rounds", "nrounds", "num_boost_round", "n_estimators", "max_iter"),
)
STOPPING = ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change")


def _missing_grades(case: Case) -> bool:
    data = case.data
    if is_constructed(data) or hasattr(data, "sources") or data.label is None:
        return False
    labels = np.asarray(data.label)
    return bool(labels.dtype.kind == "f" and np.isnan(labels).any())


TRAPS = (
    Trap(
        "boosting=rf", REFUSED, OBJECTIVE,
        "params has {name}={value}: LightGBM's forests take no objective but its own",
        given(*BOOSTING, value=lambda value: value in ("rf", "random_forest")),
    ),
    Trap("bagging_by_query", REFUSED, OBJECTIVE, BAGGING_BY_QUERY, given("bagging_by_query", value=is_true)),
    Trap(
        "label_gain", WARNED, OBJECTIVE,
        "label_gain: LightGBM keeps one table for the whole process, so that another booster's changes this one's "
        "ndcg; use feval=NDCG(k, gain=(0, 1, 3, 7)) and LambdaRank(NDCG(gain=(0, 1, 3, 7)))",
        given("label_gain"),
    ),
    Trap(
        "NaN labels", WARNED, OBJECTIVE,
        "NaN labels: a lightgbm.Dataset turns them into grade 0; make it a lambdaboost.lightgbm.Dataset, where they "
        "stay missing", _missing_grades,
    ),
    Trap(
        "min_sum_hessian_in_leaf", WARNED, MODEL,
        traps.WITHOUT_SPLIT + ", so all documents score the same. min_data_in_leaf (20 by default) counts documents as "
        "LightGBM estimates them from hessians, and min_sum_hessian_in_leaf sums the hessians, which are small for "
        "small data and small weights: try lower values, or leaves='gradient', with which both count documents",
        has_pair,
    ),
)  # fmt: skip
