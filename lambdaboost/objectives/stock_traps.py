"""What ruins a training, or is ignored, where stock LightGBM or XGBoost trains on an objective."""

from __future__ import annotations

import json
import weakref
from typing import Any

import numpy as np

from lambdaboost._warn import warn
from lambdaboost.objectives.stock_call import StockCall

_seen: weakref.WeakSet[Any] = weakref.WeakSet()

_BOOSTING = ("boosting", "boosting_type", "boost")
_FREQUENCY = ("bagging_freq", "subsample_freq")
POSITION = (
    "position: only LightGBM's own lambdarank corrects for the positions of a Dataset, so here they do nothing; "
    "leave position out, or train with LightGBM's objective='lambdarank'"
)


def check_stock_training(call: StockCall | None) -> None:
    """Look at a booster once, before its first gradient: raise or warn with the remedy."""
    booster = None if call is None else call.booster
    if booster is None or booster in _seen:
        return
    if hasattr(booster, "save_config"):
        _check_xgboost(json.loads(booster.save_config()).get("learner", {}))
    else:
        _check_lightgbm(booster.params, booster.train_set)
    _seen.add(booster)


def _check_lightgbm(params: dict[str, Any], data: Any) -> None:
    if _true(params.get("bagging_by_query")) and any(params.get(name) for name in _FREQUENCY):
        raise ValueError(
            "bagging_by_query: under any objective but its own LightGBM never draws the bags, and small bagging "
            "fractions leave trees of two or three leaves; leave bagging_by_query out, then rows are bagged"
        )
    if any(params.get(name) == "dart" for name in _BOOSTING):
        warn(
            "boosting=dart: under an objective that is not its own LightGBM drops other trees from run to run, "
            "whatever the seeds; train with lambdaboost.lightgbm.train, which drops the same"
        )
    if data.get_field("position") is not None:
        warn(POSITION)
    if params.get("lambdarank_position_bias_regularization"):
        warn(
            "lambdarank_position_bias_regularization: only LightGBM's own lambdarank reads it, so here it does "
            "nothing; leave it out"
        )
    if _cuts_queries(data):
        warn(
            "folds: this training set holds only some rows of a query; stock lightgbm.cv splits queries row by row "
            "under any objective but its own: give folds=GroupKFold(5), or use lambdaboost.lightgbm.cv"
        )


def _cuts_queries(data: Any) -> bool:
    """Whether a subset has some rows of a query, but not all."""
    rows, whole = data.used_indices, data.reference
    offsets = None if rows is None or whole is None else whole.get_field("group")
    if offsets is None:
        return False
    taken = np.bincount(np.searchsorted(offsets, rows, side="right") - 1, minlength=offsets.size - 1)
    return bool(((taken > 0) & (taken != np.diff(offsets))).any())


def _check_xgboost(learner: dict[str, Any]) -> None:
    method = learner.get("gradient_booster", {}).get("gbtree_train_param", {}).get("tree_method")
    objective = learner.get("objective", {}).get("name", "rank:ndcg")
    if method == "approx" and not objective.startswith("rank:"):
        warn(
            f"tree_method=approx: without an objective in params XGBoost takes this one for {objective}, whose hessian "
            "is constant, and grows other trees; add 'objective': 'rank:ndcg' to params, or train with "
            "lambdaboost.xgboost.train, which does"
        )


def _true(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "+")
