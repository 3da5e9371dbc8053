"""What goes wrong in silence where an objective of ours is handed to an engine without our `train`."""

from __future__ import annotations

import json
import weakref
from typing import Any

from lambdaboost._warn import warn

_seen: weakref.WeakSet[Any] = weakref.WeakSet()

_BOOSTING = ("boosting", "boosting_type", "boost")
_FREQUENCY = ("bagging_freq", "subsample_freq")


def known(booster: Any) -> None:
    """Say nothing of a booster that our own `train` has prepared."""
    _seen.add(booster)


def warn_of_traps(booster: Any) -> None:
    """Warn, once for each booster, of parameters that an engine drops or misreads under a custom objective."""
    if booster is None or booster in _seen:
        return
    known(booster)
    if hasattr(booster, "save_config"):
        _warn_xgboost(json.loads(booster.save_config()).get("learner", {}))
    else:
        _warn_lightgbm(booster.params)


def _warn_lightgbm(params: dict[str, Any]) -> None:
    if _true(params.get("bagging_by_query")) and any(params.get(name) for name in _FREQUENCY):
        warn(
            "bagging_by_query: LightGBM silently leaves bagging off under any objective but its own; leave "
            "bagging_by_query out, then rows are bagged"
        )
    if any(params.get(name) == "dart" for name in _BOOSTING):
        warn(
            "boosting=dart: under an objective that is not its own LightGBM drops other trees from run to run, "
            "whatever the seeds; train with lambdaboost.lightgbm.train, which drops the same"
        )


def _warn_xgboost(learner: dict[str, Any]) -> None:
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
