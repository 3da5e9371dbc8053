"""Checks of a training by stock LightGBM or XGBoost: settings that ruin it, and settings without effect."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from lambdaboost._stock import lightgbm, xgboost
from lambdaboost._warn import warn
from lambdaboost.datasets.engines import is_renumbered, positions_in
from lambdaboost.objectives.stock.call import StockCall

_seen: weakref.WeakSet[Any] = weakref.WeakSet()

_BOOSTING = ("boosting", "boosting_type", "boost")
_METRIC = ("metric", "metrics", "metric_types")
_FREQUENCY = ("bagging_freq", "subsample_freq")
POSITION = (
    "position: this objective does not read the positions of the data, so training ignores them; train with one that "
    "does, such as PositionGAM(LambdaRank()), or leave position out if no measure needs it"
)
RENUMBERED = (
    "position: a stock lightgbm.Dataset numbers positions anew, in the order in which they first occur, so they are "
    "read as categories and not as ranks; give them to lambdaboost.lightgbm.Dataset(…, position=…)"
)


def warn_of_positions(data: Any, are_read: bool) -> None:
    """Warn of positions that nothing reads, and of those that LightGBM has renumbered."""
    positions = positions_in(data)
    if positions is not None and not are_read:
        warn(POSITION)
    if positions is not None and are_read and is_renumbered(positions):
        warn(RENUMBERED)


def check_stock_training(call: StockCall | None, data: Any, reads_positions: bool) -> None:
    """Check a booster once, before its first gradient: raise or warn, with the remedy.

    `data` is its data set, or anything else if the caller has none.
    """
    booster = None if call is None else call.booster
    if booster is None or booster in _seen:
        return
    if xgboost.is_booster(booster):
        _check_xgboost(xgboost.settings(booster))
    else:
        _check_lightgbm(booster.params, booster.train_set)
    warn_of_positions(data, reads_positions)
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
    if params.get("lambdarank_position_bias_regularization"):
        warn(
            "lambdarank_position_bias_regularization: only LightGBM's own lambdarank reads it, so here it does "
            "nothing; leave it out"
        )
    if _stops_by_default_metric():
        warn(
            "early stopping: LGBMRanker evaluates LightGBM's own ndcg beside eval_metric, and stops by "
            "whichever stalls first; give LGBMRanker(metric='None', …) to use eval_metric alone, or use "
            "lambdaboost.lightgbm.LambdaRanker"
        )
    if _cuts_queries(data):
        warn(
            "folds: this training set holds only some rows of a query; stock lightgbm.cv splits queries row by row "
            "under any objective but its own: give folds=GroupKFold(5), or use lambdaboost.lightgbm.cv"
        )


def _stops_by_default_metric() -> bool:
    """Whether `LGBMRanker.fit` calls with early stopping, and with its default metric beside the requested ones."""
    fit = lightgbm.ranker_in_training()
    if fit is None or not fit.feval:
        return False
    metrics = fit.eval_metric if isinstance(fit.eval_metric, list) else [fit.eval_metric]
    named = any(isinstance(metric, str) for metric in metrics)
    chosen = named or any(fit.parameters.get(name) is not None for name in _METRIC)
    return not chosen and any(hasattr(callback, "stopping_rounds") for callback in fit.callbacks)


def _cuts_queries(data: Any) -> bool:
    """Whether a subset has some rows of a query, but not all."""
    subset = lightgbm.rows_of_parent(data)
    offsets = None if subset is None else subset[1].get_field("group")
    if subset is None or offsets is None:
        return False
    taken = np.bincount(np.searchsorted(offsets, subset[0], side="right") - 1, minlength=offsets.size - 1)
    return bool(((taken > 0) & (taken != np.diff(offsets))).any())


def _check_xgboost(settings: xgboost.Settings) -> None:
    objective = settings.objective or "rank:ndcg"
    if settings.tree_method == "approx" and not objective.startswith("rank:"):
        warn(
            f"tree_method=approx: without an objective in params XGBoost takes this one for {objective}, whose hessian "
            "is constant, and grows other trees; add 'objective': 'rank:ndcg' to params, or train with "
            "lambdaboost.xgboost.train, which does"
        )


def _true(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "+")
