"""Everything undocumented that lambdaboost uses of XGBoost, as in XGBoost 2.1 to 3.2; the engine is not imported.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import json
import sys
from typing import Any

# A method of XGBoost's boosters that LightGBM's do not have.
OF_BOOSTERS = "num_boosted_rounds"
ROUNDS = OF_BOOSTERS  # the method that counts a booster's iterations


def library() -> Any:
    """The engine's loaded library; None before it is imported."""
    return getattr(sys.modules.get("xgboost.core"), "_LIB", None)


def workers() -> int:
    """How many workers of a cluster train together here."""
    collective = sys.modules.get("xgboost.collective")
    return int(collective.get_world_size()) if collective is not None and collective.is_distributed() else 1


def move_handle(source: Any, target: Any) -> None:
    """Move the matrix in `source` to `target`; `source` is unusable afterwards."""
    sys.modules["xgboost"].DMatrix.__init__(target, source.handle)
    del source.handle  # otherwise both would free it


def free(matrix: Any) -> None:
    """Free a matrix, and so delete its cache on disk, while Python still refers to it."""
    if hasattr(matrix, "handle"):
        matrix.__del__()


def iterator_settings(iterator: Any) -> dict[str, Any]:
    """The arguments of `xgboost.DataIter` with which an iterator was made."""
    names = {"cache_prefix": "cache_prefix", "release_data": "_release", "on_host": "on_host"}
    names["min_cache_page_bytes"] = "min_cache_page_bytes"
    kept = vars(iterator)
    if "cache_prefix" not in kept:
        raise TypeError(
            f"{type(iterator).__name__}.__init__ does not call super().__init__(cache_prefix=…): call it first"
        )
    return {name: kept[attribute] for name, attribute in names.items() if attribute in kept}


def settings(booster: Any) -> tuple[str | None, str | None, str | None]:
    """Threads, tree method and objective, None where it has none; reading them takes as long as a short gradient."""
    learner = json.loads(booster.save_config()).get("learner", {})
    return (
        learner.get("generic_param", {}).get("nthread"),
        learner.get("gradient_booster", {}).get("gbtree_train_param", {}).get("tree_method"),
        learner.get("objective", {}).get("name"),
    )


def threads_given(booster: Any) -> Any:
    """The number of threads of a booster; 0 where it was not set."""
    return settings(booster)[0]


def boosters_in(model: Any, data: Any) -> list[tuple[Any, Any]]:
    """Each booster of a callback's `model` with its data: one, or one per fold of `xgboost.cv`."""
    folds = getattr(model, "cvfolds", None)
    return [(model, data)] if folds is None else [(fold.bst, fold.dtrain) for fold in folds]


def metric_of_queries(metric: Any, n_jobs: int | None) -> Any:
    """A metric ``(y_true, y_score)`` of one query as `XGBRanker.fit` makes it one of a matrix."""
    from xgboost.sklearn import ltr_metric_decorator

    return ltr_metric_decorator(metric, n_jobs)


def take_over(ranker: Any, booster: Any, history: dict[str, Any]) -> None:
    """Set the attributes that `XGBRanker.fit` sets, for its properties to read."""
    ranker._Booster = booster
    ranker._set_evaluation_result(history)
